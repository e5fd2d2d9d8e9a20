package feed

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// ring is the memory of a feed: slots of equal size in a file without a name. The system frees it
// when all processes have closed it.
type ring struct {
	memory    *mmapfile.Writable
	slotBytes int64
	remove    func() // removes it from the budget; nil if it is in none
}

// newRing returns a ring. It reserves the first minSlots slots, so that running out of memory is an
// error and never a SIGBUS. The others are reserved after the first batch, because that takes a
// millisecond for each 4 MiB, see reserve. The slots are followed by the queueBytes of the queue. On
// systems without memory files the file is created in dir and unlinked.
func newRing(dir string, slots int, slotBytes, queueBytes int64) (*ring, error) {
	f, seal, err := ringFile(dir)
	if err != nil {
		return nil, fmt.Errorf("make a ring: %w", err)
	}
	all := int64(slots) * slotBytes
	memory, err := mmapfile.NewSparse(f, all+queueBytes)
	if err != nil {
		return nil, err
	}
	err = memory.Reserve(0, min(minSlots*slotBytes, all))
	if err == nil && queueBytes > 0 {
		err = memory.Reserve(all, queueBytes)
	}
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	if err := seal(f); err != nil {
		return nil, errors.Join(fmt.Errorf("seal a ring: %w", err), memory.Close())
	}
	return &ring{memory: memory, slotBytes: slotBytes}, nil
}

// reserve reserves the memory of slots [from, to).
func (r *ring) reserve(from, to int) error {
	return r.memory.Reserve(int64(from)*r.slotBytes, int64(to-from)*r.slotBytes)
}

// slot returns a slot's memory.
func (r *ring) slot(slot uint32) []byte {
	at := int64(slot) * r.slotBytes
	return r.memory.Bytes()[at : at+r.slotBytes : at+r.slotBytes]
}

// close unmaps the ring here; a client's own mapping stays.
func (r *ring) close() error {
	if r.remove != nil {
		defer r.remove()
	}
	return r.memory.Close()
}

// unlinkedFile is the ring's file on systems without memory files.
func unlinkedFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "ring-")
	if err != nil {
		return nil, err
	}
	if err := unix.Unlink(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// chooseSlots returns the number of slots of a ring: as many as the client asks for, else about 16
// MiB of them, 8 to 64.
func chooseSlots(asked int, slotBytes int64) int {
	if asked > 0 {
		return asked
	}
	return int(min(64, max(8, (16<<20)/max(slotBytes, 1))))
}

// The least and the greatest number of slots of a ring. With three, one can be filled while the
// trainer reads one and keeps one. Credits for the most fit into one frame.
const (
	minSlots = 3
	maxSlots = wire.MaxFrame / 4
)
