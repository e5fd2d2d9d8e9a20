package feed

import "unsafe"

// repeatBytes is from how many bytes on repeat is no slower than copy, whatever is in the caches.
const repeatBytes = 768

// moveAll copies src to dst, which is as long and elsewhere. What it writes is for another process, and mostly in no near cache:
// repeat does not read it first, and so takes a sixth less (bench/README.md). Where the destination is a few bytes further
// into its page than the source it is many times slower, on the very processors that are fast otherwise.
func moveAll[T numeric](dst, src []T) {
	var value T
	n := int64(len(dst)) * int64(unsafe.Sizeof(value))
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	if !canRepeat || n < repeatBytes || (uintptr(to)-uintptr(from)-1)%4096 < lineBytes || len(src) < len(dst) {
		copy(dst, src)
		return
	}
	repeat(to, from, n)
}
