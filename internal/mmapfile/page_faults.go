package mmapfile

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// ErrLost is wrapped by what [Lost] returns.
var ErrLost = errors.New("the file was cut off while it was mapped, or its disk failed")

// live are the maps that may be read now: a fault has an address alone.
var live = struct {
	sync.Mutex
	maps map[*Map]bool
}{maps: map[*Map]bool{}}

func (m *Map) enlist() {
	live.Lock()
	defer live.Unlock()
	live.maps[m] = true
}

func (m *Map) delist() {
	live.Lock()
	defer live.Unlock()
	delete(live.maps, m)
}

// Lost says what a recovered panic means where it is the fault of a page of a [Map]: an error that
// names the file and the place and wraps ErrLost. Of any other panic it is nil. Faults are panics
// in goroutines that have called [runtime/debug.SetPanicOnFault], also those in assembly; in others
// they end the process.
func Lost(recovered any) error {
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	live.Lock()
	defer live.Unlock()
	for m := range live.maps {
		if at := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m.data))); at < uintptr(
			len(m.data)) {
			return fmt.Errorf("%s: no byte %d of %d: %w", m.path, at, len(m.data), ErrLost)
		}
	}
	return nil
}

// PanicError returns the error for a recovered panic. If it is the fault of a page of a [Map] that
// does not exist any more, the error is that of Lost. For others it says what was being done.
func PanicError(doing string, recovered any) error {
	if err := Lost(recovered); err != nil {
		return err
	}
	return fmt.Errorf("%s: %v", doing, recovered)
}
