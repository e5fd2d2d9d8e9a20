package feed

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// ring is the memory of a feed: slots of equal size in a file without a name, which dies with its
// holders.
type ring struct {
	memory *mmapfile.Writable
	slot   int64
	remove func() // takes it out of the budget, where it is in one
}

// newRing reserves the memory of the first minSlots slots, so that full memory is an error and
// never a SIGBUS; that of the others, a millisecond for each four MiB, is for the time after the
// first batch: see reserve. dir is where the file is made and unlinked where the system has no
// memory files. Behind the slots there may be more memory.
func newRing(dir string, slots int, slotBytes, more int64) (*ring, error) {
	f, seal, err := ringFile(dir)
	if err != nil {
		return nil, fmt.Errorf("make a ring: %w", err)
	}
	all := int64(slots) * slotBytes
	memory, err := mmapfile.NewSparse(f, all+more)
	if err != nil {
		return nil, err
	}
	err = memory.Reserve(0, min(minSlots*slotBytes, all))
	if err == nil && more > 0 {
		err = memory.Reserve(all, more)
	}
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	if err := seal(f); err != nil {
		return nil, errors.Join(fmt.Errorf("seal a ring: %w", err), memory.Close())
	}
	return &ring{memory: memory, slot: slotBytes}, nil
}

// reserve reserves the memory of slots [from, to).
func (r *ring) reserve(from, to int) error {
	return r.memory.Reserve(int64(from)*r.slot, int64(to-from)*r.slot)
}

// bytes is a slot's memory.
func (r *ring) bytes(slot uint32) []byte {
	at := int64(slot) * r.slot
	return r.memory.Bytes()[at : at+r.slot : at+r.slot]
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
