package feed

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// canRepeat tells whether the processor has a fast REP MOVSB, which writes whole lines without
// reading them first; Go's copy uses it on Intel alone.
var canRepeat = cpuid.CPU.Supports(cpuid.ERMS, cpuid.FSRM) && !portable.Forced()

// repeat copies n bytes, none of which is in both places.
//
//go:noescape
func repeat(dst, src unsafe.Pointer, n int64)
