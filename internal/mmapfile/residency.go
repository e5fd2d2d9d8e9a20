package mmapfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// InMemory returns how many bytes of a file are in memory or are being read into it, in whole
// pages. Linux 6.5 counts them itself, in 60 µs for a GiB. Otherwise mincore(2) returns the state
// of each page, in 13 ms. It is an error if the system has neither.
func InMemory(f *os.File) (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st.Size() == 0 {
		return 0, nil
	}
	pages, ok := cachedPages(f)
	if !ok {
		if pages, err = countByMincore(f); err != nil {
			return 0, fmt.Errorf("count the pages of %s in memory: %w", f.Name(), err)
		}
	}
	return min(pages*pageSize, st.Size()), nil
}

// mincorePages is the number of pages in one call of mincore.
const mincorePages = 1 << 16

// countByMincore counts the pages of a file in memory with mincore, in a map of its own.
func countByMincore(f *os.File) (pages int64, err error) {
	data, err := mapWhole(f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, data.Unmap()) }()
	inMemory := make([]byte, mincorePages)
	for at := int64(0); at < int64(len(data)); at += mincorePages * pageSize {
		part := data[at:min(at+mincorePages*pageSize, int64(len(data)))]
		if err := mincore(part, inMemory); err != nil {
			return 0, err
		}
		for _, p := range inMemory[:(int64(len(part))+pageSize-1)/pageSize] {
			pages += int64(p & 1)
		}
	}
	return pages, nil
}

// mincore sets the lowest bit of a byte for each page of b that is in memory. Package unix has no
// such function for macOS.
func mincore(b, inMemory []byte) error {
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(inMemory))))
	if failed != 0 {
		return failed
	}
	return nil
}

// EvictFile asks the system to evict the pages of a file from memory. Pages that are not on the
// disk yet, locked, or mapped by a process stay. macOS has no call for it.
func EvictFile(f *os.File) error {
	if err := evictPages(f); err != nil {
		return fmt.Errorf("evict the pages of %s: %w", f.Name(), err)
	}
	return nil
}

// Evict removes the file's pages from this map, and asks the system to evict them as [EvictFile]
// does. Reading the map brings them back. The caller holds an Acquire; others may be reading.
func (m *Map) Evict() error {
	// An error means that pages are locked: they stay in memory.
	_ = unix.Madvise(m.data, unix.MADV_DONTNEED)
	if m.file == nil {
		return nil
	}
	return EvictFile(m.file)
}

// Read waits until n bytes at an offset are in memory. If they cannot be read, it returns an error,
// and there is no SIGBUS. The caller holds an Acquire.
func (m *Map) Read(offset, n int64) error {
	b := m.pagesOf(offset, n)
	if b == nil {
		return nil
	}
	if err := populate(b); err == nil || m.file == nil {
		return err
	}
	// The system has no such call, or could not read. read(2) returns the reason.
	buf := make([]byte, 1<<20)
	for end := min(offset+n, m.Len()); offset < end; offset += int64(len(buf)) {
		n, err := m.file.ReadAt(buf[:min(int64(len(buf)), end-offset)], offset)
		if err == io.EOF {
			return fmt.Errorf("%s: no byte %d of %d: %w", m.path, offset+int64(n), m.Len(), ErrLost)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", m.path, err)
		}
	}
	return nil
}

// lockBytes is the number of bytes that one call locks.
const lockBytes = 64 << 20

// Lock reads the file into memory and locks it there until Unlock or Close. It returns how many
// bytes are locked, and an error if the process may not lock all. It calls stop every 64 MiB, and
// ends if stop returns an error. The caller holds an Acquire.
func (m *Map) Lock(stop func() error) (locked int64, err error) {
	for n := int64(lockBytes); locked < m.Len(); {
		if err := stop(); err != nil {
			return locked, err
		}
		n = min(n, m.Len()-locked)
		err := unix.Mlock(m.data[locked : locked+n])
		switch {
		case err == nil:
			locked += n
		// a smaller part may be allowed
		case (err == unix.ENOMEM || err == unix.EAGAIN) && n > pageSize:
			n = max(n/2/pageSize, 1) * pageSize
		default:
			return locked, fmt.Errorf("lock %s in memory: %w", m.path, err)
		}
	}
	return locked, nil
}

// Unlock undoes Lock. The caller holds an Acquire.
func (m *Map) Unlock() error {
	if err := unix.Munlock(m.data); err != nil {
		return fmt.Errorf("unlock %s: %w", m.path, err)
	}
	return nil
}
