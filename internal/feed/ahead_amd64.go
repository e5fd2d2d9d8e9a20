package feed

import "unsafe"

// prefetch asks for n ≥ 1 cache lines, step bytes apart from p on, to be brought into the
// second-level cache, and waits for none. The first level has too few places for lines under way:
// asked into it, a window's lines were as slow as unasked (bench/README.md). An address that is not
// mapped does no harm.
//
//go:noescape
func prefetch(p unsafe.Pointer, step, n int64)
