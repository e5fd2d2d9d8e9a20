package mmapfile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Placeholder is address space that stands for bytes which are not there yet: it can be sliced and
// compared, costs no memory, and reads as zeros.
type Placeholder struct{ data []byte }

// NewPlaceholder takes size bytes of address space.
func NewPlaceholder(size int64) (*Placeholder, error) {
	data, err := unix.Mmap(-1, 0, int(max(size, 1)), unix.PROT_READ,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("take %d bytes of address space: %w", size, err)
	}
	return &Placeholder{data}, nil
}

// Bytes is the whole of it, valid until Close.
func (p *Placeholder) Bytes() []byte { return p.data }

// Close gives the address space back. Further calls do nothing.
func (p *Placeholder) Close() error {
	if p.data == nil {
		return nil
	}
	err := unix.Munmap(p.data)
	p.data = nil
	return err
}
