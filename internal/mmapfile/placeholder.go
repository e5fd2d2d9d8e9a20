package mmapfile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Placeholder is address space in place of bytes that do not exist yet. It uses no memory and reads
// as zeros.
type Placeholder struct{ data []byte }

// NewPlaceholder reserves size bytes of address space.
func NewPlaceholder(size int64) (*Placeholder, error) {
	data, err := unix.Mmap(-1, 0, int(max(size, 1)), unix.PROT_READ,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", size, err)
	}
	return &Placeholder{data}, nil
}

// Bytes returns the whole address space, valid until Close.
func (p *Placeholder) Bytes() []byte { return p.data }

// Close releases the address space. Further calls do nothing.
func (p *Placeholder) Close() error {
	if p.data == nil {
		return nil
	}
	err := unix.Munmap(p.data)
	p.data = nil
	return err
}
