package gather

import "unsafe"

// minRepBytes is the size from which on REP MOVSB is no slower than copy, whatever is in the
// caches.
const minRepBytes = 768

// copyValues copies src to dst, or the part of it for which both have room. They do not overlap.
func copyValues[T numeric](dst, src []T) {
	if len(src) < len(dst) {
		copy(dst, src)
		return
	}
	var value T
	copyBytes(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		int64(len(dst))*int64(unsafe.Sizeof(value)))
}

// copyBytes copies n bytes. Another process reads what it writes, and the destination is mostly in
// neither the first- nor the second-level cache: REP MOVSB does not read it first, and so takes a sixth less time
// (docs/performance.md). If the destination is up to a cache line further into its page than the
// source, REP MOVSB is many times slower, on the very processors on which it is fast otherwise.
func copyBytes(to, from unsafe.Pointer, n int64) {
	if !hasFastRep || n < minRepBytes || (uintptr(to)-uintptr(from)-1)%4096 < lineBytes {
		copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
		return
	}
	repMovsb(to, from, n)
}

// contiguousRows is memory of rows that follow each other without a gap.
type contiguousRows struct {
	base     unsafe.Pointer // of row 0; nil if there is no such memory
	rowBytes int64
	count    int64 // of rows
}

// copy copies n rows from one on.
func (r *contiguousRows) copy(to unsafe.Pointer, row, n int64) {
	if row < 0 || n < 0 || row > r.count-n {
		panic("gather: rows out of range")
	}
	copyBytes(to, unsafe.Add(r.base, row*r.rowBytes), n*r.rowBytes)
}
