//go:build !amd64

package gather

import "unsafe"

const hasInterleave8 = false

func interleave8(unsafe.Pointer, int64, *[8]unsafe.Pointer, int64, int64) {
	panic("gather: no interleave8 on this processor")
}
