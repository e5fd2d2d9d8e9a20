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

// batchMemory is where Arrow's reader keeps the batch that it decodes: a few MiB of the process's memory, and beyond that files without a
// name in the job's directory, mapped. Arrow reads batches whole, and a writer may put all of its rows into one.
//
// It is an Arrow memory.Allocator. What is freed is used again; the files live until close.
type batchMemory struct {
	dir string

	mu    sync.Mutex
	heap  int64 // bytes of the process's memory in use
	files []*batchFile
	err   error // why the first piece could not be had
}

// batchPiece is a file, filled from its beginning on, and anew once all in it is freed.
type batchFile struct {
	file       *mmapfile.Writable
	used, live int
}

const (
	// batchHeap is how much of a batch is in the process's memory.
	maxHeapBytes = 16 << 20
	// batchPieceBytes is the least size of a file.
	minFileBytes = 64 << 20
	batchAlign   = 64
)

func (m *batchMemory) Allocate(size int) []byte {
	if size == 0 {
		return []byte{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heap+int64(size) <= maxHeapBytes {
		m.heap += int64(size)
		words := make([]uint64, (size+7)/8) // Arrow sees values of up to 8 bytes in it
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
		panic(err) // Arrow's reader makes an error of it; fill gives this one instead
	}
	m.files = append(m.files, p)
	return p.allocate(size, aligned)
}

// piece makes a file of size bytes.
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
		err = &loaderr.NoSpaceError{Dir: m.dir, Need: int64(size), Have: max(0, files.FreeSpace(m.dir)), Text: err.Error()}
	}
	return nil, err
}

// take is size bytes of a piece, nil if it has not that room.
func (p *batchFile) allocate(size, aligned int) []byte {
	data := p.file.Bytes()
	if aligned > len(data)-p.used {
		return nil
	}
	b := data[p.used:][:size:size]
	p.used, p.live = p.used+aligned, p.live+1
	return b
}

func (m *batchMemory) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size] // Free knows it by where it begins, and by its capacity
	}
	more := m.Allocate(size)
	copy(more, b)
	m.Free(b)
	return more
}

func (m *batchMemory) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for _, p := range m.files {
		data := p.file.Bytes()
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(data))); at >= from && at < from+uintptr(len(data)) {
			if p.live--; p.live == 0 {
				p.used = 0
			}
			return
		}
	}
	m.heap -= int64(cap(b))
}

// close unmaps the files: nothing that Arrow's reader gave may be used afterwards.
func (m *batchMemory) close() {
	for _, p := range m.files {
		p.file.Close()
	}
	m.files = nil
}
