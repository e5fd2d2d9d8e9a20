package mmapfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// InMemory counts the bytes of a file that are in memory, or on their way there, whoever asked for
// them: exact to a page. Linux 6.5 counts them itself, in 60 µs for a GiB; elsewhere each page is
// looked up by mincore(2), in 13 ms. It is an error where neither is there.
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
		if pages, err = lookUp(f); err != nil {
			return 0, fmt.Errorf("find out what of %s is in memory: %w", f.Name(), err)
		}
	}
	return min(pages*pageSize, st.Size()), nil
}

// lookPages is how many pages are looked up at once.
const lookPages = 1 << 16

// lookUp counts pages by mincore, over a map of its own.
func lookUp(f *os.File) (pages int64, err error) {
	data, err := mapWhole(f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, data.Unmap()) }()
	there := make([]byte, lookPages)
	for at := int64(0); at < int64(len(data)); at += lookPages * pageSize {
		part := data[at:min(at+lookPages*pageSize, int64(len(data)))]
		if err := mincore(part, there); err != nil {
			return 0, err
		}
		for _, p := range there[:(int64(len(part))+pageSize-1)/pageSize] {
			pages += int64(p & 1)
		}
	}
	return pages, nil
}

// mincore tells of each page of b whether it is in memory, in the lowest bit of a byte. Go has no
// wrapper of it for macOS.
func mincore(b, there []byte) error {
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(there))))
	if failed != 0 {
		return failed
	}
	return nil
}

// Uncache asks the system to give up the pages of a file, which must be on the disk: those that are
// changed, locked or mapped by anybody stay. macOS has no call for it and gives them up when it
// needs the memory.
func Uncache(f *os.File) error {
	if err := uncache(f); err != nil {
		return fmt.Errorf("give up the pages of %s: %w", f.Name(), err)
	}
	return nil
}

// Unmapped takes the file's pages out of this map, where they are found again when they are read,
// and asks the system to give them up as [Uncache] does. The caller holds an Acquire; others may be
// reading.
func (m *Map) Unmapped() error {
	// locked pages stay, which is no error of the caller's
	_ = unix.Madvise(m.data, unix.MADV_DONTNEED)
	if m.file == nil {
		return nil
	}
	return Uncache(m.file)
}

// Read brings n bytes from offset on into memory and waits for them. What cannot be read is an
// error, and never a SIGBUS. The caller holds an Acquire.
func (m *Map) Read(offset, n int64) error {
	b := m.pagesOf(offset, n)
	if b == nil {
		return nil
	}
	if err := populate(b); err == nil || m.file == nil {
		return err
	}
	// The system has no such call, or the reason is one that read(2) says better.
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

// lockBytes is how much is locked at once.
const lockBytes = 64 << 20

// Lock brings the file into memory and locks it there until Unlock or Close, as much of it as the
// process may lock: it says how many bytes are locked, and why not all. Every 64 MiB it asks stop,
// whose error ends it. The caller holds an Acquire.
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
		case (err == unix.ENOMEM || err == unix.EAGAIN) && n > pageSize: // less may be allowed
			n = max(n/2/pageSize, 1) * pageSize
		default:
			return locked, fmt.Errorf("lock %s in memory: %w", m.path, err)
		}
	}
	return locked, nil
}

// Unlock ends a Lock. The caller holds an Acquire.
func (m *Map) Unlock() error {
	if err := unix.Munlock(m.data); err != nil {
		return fmt.Errorf("unlock %s: %w", m.path, err)
	}
	return nil
}
