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

// Writable is a file mapped for reading and writing, shared, of a size that does not change.
type Writable struct {
	file *os.File
	data mmap.MMap
}

// NewWritable reserves size bytes of the file's space and maps them. It takes the file over: Close
// closes it, and so does an error here. A full disk is one that wraps ENOSPC.
func NewWritable(f *os.File, size int64) (*Writable, error) {
	w := &Writable{file: f}
	if err := w.Reserve(0, size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w.mapped(size)
}

// NewSparse maps size bytes of a file of which nothing is reserved yet: a write where
// [Writable.Reserve] was not before may kill the process. It takes the file over: Close closes it,
// and so does an error here.
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

// Reserve reserves the space of n bytes from at on, and keeps what is there. Full memory or a full
// disk is an error that wraps ENOMEM or ENOSPC.
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

// Bytes is the whole mapping, valid until Close.
func (w *Writable) Bytes() []byte { return w.data }

// WriteAt writes to the file and not through the mapping, which shows the bytes at once. During the
// system call the goroutine does not release its P, as package pagecache explains: call WriteAt
// only in a process that serves no requests.
func (w *Writable) WriteAt(b []byte, at int64) error {
	_, err := pagecache.File{File: w.file}.WriteAt(b, at)
	return err
}

// File is the mapped file, valid until Close.
func (w *Writable) File() *os.File { return w.file }

// Close unmaps and closes the file. The bytes written are in the page cache, not on the disk yet.
// Further calls do nothing.
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

// Leave closes the file and leaves the mapping to the end of the process. After it, and after
// Close, it does nothing.
func (w *Writable) Leave() error {
	if w.data == nil {
		return nil
	}
	w.data = nil
	return w.file.Close()
}

// fillHoles reserves space where the system has no call for it: every block is read and written
// back, so that what is there stays and a hole becomes zeros on real blocks.
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
