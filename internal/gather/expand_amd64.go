package gather

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// hasWriteUnset8 reports whether the processor has the instructions of writeUnset8.
var hasWriteUnset8 = cpu.X86.HasAVX2 && !portable.Forced()

// writeUnset8 writes n ≥ 1 rows of eight float32, one for each byte of bits: 1 for a bit that is not
// set, else 0. Rows begin step bytes apart.
//
//go:noescape
func writeUnset8(dst unsafe.Pointer, step int64, bits unsafe.Pointer, n int64)
