package gather

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// hasFastRep reports whether the processor has a fast REP MOVSB, which writes whole lines without
// reading them first. Go's copy uses it on Intel only.
var hasFastRep = cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM) && !portable.Forced()

// repMovsb copies n bytes. Source and destination do not overlap.
//
//go:noescape
func repMovsb(dst, src unsafe.Pointer, n int64)
