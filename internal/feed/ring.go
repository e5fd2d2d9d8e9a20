package feed

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// ring is the memory of a feed: slots of equal size in a file without a name, which dies with its holders.
type ring struct {
	memory *mmapfile.Writable
	slot   int64
	remove func() // takes it out of the budget, where it is in one
}

// newRing reserves the memory of all slots now, so that full memory is an error and never a SIGBUS.
// dir is where the file is made and unlinked where the system has no memory files.
// Behind the slots there may be more memory.
func newRing(dir string, slots int, slotBytes, more int64) (*ring, error) {
	f, seal, err := ringFile(dir)
	if err != nil {
		return nil, fmt.Errorf("make a ring: %w", err)
	}
	memory, err := mmapfile.NewWritable(f, int64(slots)*slotBytes+more)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := seal(f); err != nil {
		return nil, errors.Join(fmt.Errorf("seal a ring: %w", err), memory.Close())
	}
	return &ring{memory: memory, slot: slotBytes}, nil
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
