package feed

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// takeSlot returns a free slot, which belongs to the client from now on.
func (s *feed) takeSlot() uint32 {
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.clientOwns[slot] = true
	return slot
}

// Credit frees a slot. A credit for a slot that does not belong to the client ends the feed,
// because its memory may be in use.
func (s *feed) Credit(slot uint64) error {
	if slot >= uint64(s.slots) || !s.clientOwns[slot] {
		return fmt.Errorf("%w: a credit for slot %d, which the client does not hold",
			wire.ErrFrame, slot)
	}
	s.clientOwns[slot] = false
	s.free = append(s.free, uint32(slot))
	return nil
}

// growBytes is how much of the ring is reserved between two bursts.
const growBytes = 1 << 20

// grow reserves more slots of the ring and adds them to the free ones, after the first batch was
// sent, and reports whether it did. If there is no memory for them, the feed ends: a client that
// expects more slots could keep those that exist and wait forever.
func (s *feed) grow() (bool, error) {
	if s.batches == 0 || s.reserved == s.slots {
		return false, nil
	}
	to := min(s.slots, s.reserved+max(1, int(growBytes/s.ring.slotBytes)))
	if err := s.ring.reserve(s.reserved, to); err != nil {
		return false, err
	}
	for ; s.reserved < to; s.reserved++ {
		s.free = append(s.free, uint32(s.reserved))
	}
	return true, nil
}
