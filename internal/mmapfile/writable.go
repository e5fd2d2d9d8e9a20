package mmapfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	mmap "github.com/edsrzf/mmap-go"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/pagecache"
)

// Writable is a file of fixed size, mapped shared for reading and writing.
type Writable struct {
	file *os.File
	data mmap.MMap
}

// NewWritable reserves size bytes of disk space for the file and maps them. It takes ownership of
// the file: Close closes it, and so does an error here. If the disk is full, the error wraps
// ENOSPC.
func NewWritable(f *os.File, size int64) (*Writable, error) {
	w := &Writable{file: f}
	if err := w.Reserve(0, size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w.mapped(size)
}

// NewSparse maps size bytes of a file without reserving space. If the disk is full, a write to
// bytes that [Writable.Reserve] has not reserved may kill the process. It takes ownership of the
// file: Close closes it, and so does an error here.
func NewSparse(f *os.File, size int64) (*Writable, error) {
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return (&Writable{file: f}).mapped(size)
}

func (w *Writable) mapped(size int64) (*Writable, error) {
	err := fault.At("map")
	if err == nil {
		w.data, err = mmap.MapRegion(w.file, int(size), mmap.RDWR, 0, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map %s: %w", w.file.Name(), err), w.file.Close())
	}
	return w, nil
}

// Reserve reserves space for n bytes at an offset, and does not change their values. If memory or
// disk space is used up, the error wraps ENOMEM or ENOSPC.
func (w *Writable) Reserve(at, n int64) error {
	err := fault.At("reserve")
	if err == nil {
		err = reserve(w.file, at, n)
	}
	if err != nil {
		return fmt.Errorf("reserve %d bytes for %s: %w", n, w.file.Name(), err)
	}
	return nil
}

// Bytes returns the whole mapping, valid until Close.
func (w *Writable) Bytes() []byte { return w.data }

// WriteAt writes to the file with a system call. The mapping shows the bytes at once. The goroutine
// keeps its processor meanwhile (see [cached]).
func (w *Writable) WriteAt(b []byte, at int64) error {
	_, err := pagecache.File{File: w.file}.WriteAt(b, at)
	return err
}

// File returns the mapped file, valid until Close.
func (w *Writable) File() *os.File { return w.file }

// Close unmaps and closes the file. The written bytes are in the page cache, and may not be on the
// disk yet. Further calls do nothing.
func (w *Writable) Close() error {
	if w.data == nil {
		return nil
	}
	err := w.data.Unmap()
	w.data = nil
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	return err
}

// CloseFile closes the file and keeps the mapping until the process ends. After it, and after
// Close, it does nothing.
func (w *Writable) CloseFile() error {
	if w.data == nil {
		return nil
	}
	w.data = nil
	return w.file.Close()
}

// fillHoles reserves space on systems without a call for it. It reads every block and writes it
// back, so that values stay and a hole becomes allocated zeros.
func fillHoles(f *os.File, at, n int64) error {
	buf := make([]byte, min(1<<20, n))
	for end := at + n; at < end; at += int64(len(buf)) {
		block := buf[:min(int64(len(buf)), end-at)]
		n, err := f.ReadAt(block, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		clear(block[n:])
		if _, err := f.WriteAt(block, at); err != nil {
			return err
		}
	}
	return nil
}
