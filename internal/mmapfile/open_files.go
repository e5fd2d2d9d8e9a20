package mmapfile

import (
	"errors"
	"fmt"
	"os"
)

// New maps the whole of a file that was opened elsewhere, such as one that came over a socket, and
// closes it: the map needs no descriptor.
func New(f *os.File) (*Map, error) {
	data, err := mapWhole(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map %s: %w", f.Name(), err), f.Close())
	}
	if err := f.Close(); err != nil {
		return nil, errors.Join(err, data.Unmap())
	}
	return newMap(f.Name(), data), nil
}

// NewShared maps the first size bytes of a file whose space another process has reserved, for
// reading and writing. It takes the file over: Close closes it, and so does an error here. A file
// that is shorter is refused with ErrRange, before anything is mapped.
func NewShared(f *os.File, size int64) (*Writable, error) {
	st, err := f.Stat()
	if err == nil && (size < 1 || st.Size() < size) {
		err = fmt.Errorf("%w: %d bytes of a file of %d", ErrRange, size, st.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map %s: %w", f.Name(), err), f.Close())
	}
	return (&Writable{file: f}).mapped(size)
}
