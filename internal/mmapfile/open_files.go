package mmapfile

import (
	"errors"
	"fmt"
	"os"
)

// New maps the whole of an open file, such as one received over a socket, and closes it: the map
// needs no descriptor.
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

// NewShared maps the first size bytes of an open file, for reading and writing. Another process has
// reserved their space. It takes ownership of the file: Close closes it, and so does an error here.
// If the file is shorter, the error is ErrRange and nothing is mapped.
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
