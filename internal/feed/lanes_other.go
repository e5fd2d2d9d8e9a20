//go:build !amd64

package feed

import "unsafe"

const canInterleave = false

func interleave8(unsafe.Pointer, int64, *[8]unsafe.Pointer, int64, int64) {
	panic("feed: no interleave8 on this processor")
}
