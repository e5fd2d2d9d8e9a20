package feed

import "unsafe"

// repeatBytes is from how many bytes on repeat is no slower than copy, whatever is in the caches.
const repeatBytes = 768

// moveAll copies src to dst, which is as long and elsewhere.
func moveAll[T numeric](dst, src []T) {
	if len(src) < len(dst) {
		copy(dst, src)
		return
	}
	var value T
	moveBytes(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		int64(len(dst))*int64(unsafe.Sizeof(value)))
}

// moveBytes copies n bytes. What it writes is for another process, and mostly in no near cache:
// repeat does not read it first, and so takes a sixth less (bench/README.md). Where the destination
// is a few bytes further into its page than the source it is many times slower, on the very
// processors that are fast otherwise.
func moveBytes(to, from unsafe.Pointer, n int64) {
	if !canRepeat || n < repeatBytes || (uintptr(to)-uintptr(from)-1)%4096 < lineBytes {
		copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
		return
	}
	repeat(to, from, n)
}

// piece is memory of whose rows, as they are, a block is made.
type piece struct {
	base  unsafe.Pointer // of row 0; nil where there is no such memory
	row   int64          // bytes
	count int64          // of rows
}

// move copies n rows from one on.
func (p *piece) move(to unsafe.Pointer, row, n int64) {
	if row < 0 || n < 0 || row > p.count-n {
		panic("feed: rows out of range")
	}
	moveBytes(to, unsafe.Add(p.base, row*p.row), n*p.row)
}
