package mmapfile

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// ErrLost is wrapped by the errors of [FaultError].
var ErrLost = errors.New("the file was cut off while it was mapped, or its disk failed")

// openMaps contains the maps that are open, because a fault has only an address.
var openMaps = struct {
	sync.Mutex
	maps map[*Map]bool
}{maps: map[*Map]bool{}}

func (m *Map) register() {
	openMaps.Lock()
	defer openMaps.Unlock()
	openMaps.maps[m] = true
}

func (m *Map) unregister() {
	openMaps.Lock()
	defer openMaps.Unlock()
	delete(openMaps.maps, m)
}

// FaultError returns an error that wraps ErrLost and names the file and the byte, if a recovered
// panic is the fault of a page of a [Map]. It returns nil for any other panic. A fault is a panic
// only in goroutines that have called [runtime/debug.SetPanicOnFault], also in assembly. In others
// it ends the process.
func FaultError(recovered any) error {
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	openMaps.Lock()
	defer openMaps.Unlock()
	for m := range openMaps.maps {
		if at := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m.data))); at < uintptr(
			len(m.data)) {
			return fmt.Errorf("%s: no byte %d of %d: %w", m.path, at, len(m.data), ErrLost)
		}
	}
	return nil
}

// PanicError returns the error of a recovered panic: that of FaultError, or else one that says what
// the program was doing.
func PanicError(doing string, recovered any) error {
	if err := FaultError(recovered); err != nil {
		return err
	}
	return fmt.Errorf("%s: %v", doing, recovered)
}
