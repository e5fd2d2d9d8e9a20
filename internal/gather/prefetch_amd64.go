package gather

import "unsafe"

// prefetch asks for n ≥ 1 cache lines, step bytes apart from p on, to be fetched into the
// second-level cache, and does not wait. The first level has too few places for lines under way:
// fetched into it, the lines of a window were as slow as without (docs/performance.md). An address that
// is not mapped does no harm.
//
//go:noescape
func prefetch(p unsafe.Pointer, step, n int64)
