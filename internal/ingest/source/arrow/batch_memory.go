package arrow

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// batchMemory allocates the batches that Arrow's reader decodes: the first 16 MiB from the Go heap,
// the rest from unlinked, mapped files in the job's directory. Arrow decodes a whole batch at a
// time, and a writer may put all rows into one.
//
// It implements Arrow's memory.Allocator. Freed memory is reused. The files exist until close.
type batchMemory struct {
	dir string

	mu    sync.Mutex
	heap  int64 // bytes of the Go heap in use
	files []*batchFile
	err   error // errors of creating files
}

// batchFile is a mapped file. Allocations fill it from its beginning; it is reused from its
// beginning when all of them are freed.
type batchFile struct {
	file       *mmapfile.Writable
	used, live int
}

const (
	// maxHeapBytes is how many bytes of a batch are on the Go heap.
	maxHeapBytes = 16 << 20
	// minFileBytes is the smallest size of a file.
	minFileBytes = 64 << 20
	batchAlign   = 64
)

// Allocate returns size bytes. It panics if it cannot create a file; Arrow's reader recovers.
func (m *batchMemory) Allocate(size int) []byte {
	if size == 0 {
		return []byte{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heap+int64(size) <= maxHeapBytes {
		m.heap += int64(size)
		words := make([]uint64, (size+7)/8) // aligned for values of 8 bytes
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	}
	aligned := (size + batchAlign - 1) &^ (batchAlign - 1)
	for _, p := range m.files {
		if b := p.allocate(size, aligned); b != nil {
			return b
		}
	}
	p, err := m.newFile(max(aligned, minFileBytes))
	if err != nil {
		m.err = errors.Join(m.err, err)
		panic(err) // Arrow's reader turns it into an error; ReadRows returns m.err instead
	}
	m.files = append(m.files, p)
	return p.allocate(size, aligned)
}

// newFile creates an unlinked file of size bytes and maps it.
func (m *batchMemory) newFile(size int) (*batchFile, error) {
	f, err := os.CreateTemp(m.dir, "batch")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	w, err := mmapfile.NewWritable(f, int64(size))
	if err == nil {
		return &batchFile{file: w}, nil
	}
	if files.IsFull(err) {
		err = &loaderr.NoSpaceError{
			Dir:  m.dir,
			Need: int64(size),
			Have: max(0, files.FreeSpace(m.dir)),
			Text: err.Error(),
		}
	}
	return nil, err
}

// allocate returns size bytes of the file, nil if it does not have the aligned size left.
func (p *batchFile) allocate(size, aligned int) []byte {
	data := p.file.Bytes()
	if aligned > len(data)-p.used {
		return nil
	}
	b := data[p.used:][:size:size]
	p.used, p.live = p.used+aligned, p.live+1
	return b
}

// Reallocate returns b with another size, in place if its capacity suffices.
func (m *batchMemory) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size] // Free needs only its address and capacity
	}
	more := m.Allocate(size)
	copy(more, b)
	m.Free(b)
	return more
}

// Free returns b to the file that contains its address, or else to the Go heap.
func (m *batchMemory) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for _, p := range m.files {
		data := p.file.Bytes()
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(data))); at >= from &&
			at < from+uintptr(len(data)) {
			if p.live--; p.live == 0 {
				p.used = 0
			}
			return
		}
	}
	m.heap -= int64(cap(b))
}

// close unmaps the files. Arrays from Arrow's reader must not be used afterwards.
func (m *batchMemory) close() {
	for _, p := range m.files {
		p.file.Close()
	}
	m.files = nil
}
