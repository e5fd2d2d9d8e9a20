package gather

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// hasInterleave8 reports whether the processor has the instructions of interleave8.
var hasInterleave8 = cpu.X86.HasAVX && !portable.Forced()

// interleave8 writes n rows, a multiple of 4 and at least 4, of eight values of 4 bytes, one from
// each source at offset bytes. Rows begin step bytes apart.
//
//go:noescape
func interleave8(dst unsafe.Pointer, step int64, sources *[8]unsafe.Pointer, offset, n int64)
