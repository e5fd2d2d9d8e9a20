//go:build !amd64

package gather

import "unsafe"

const hasWriteUnset8 = false

func writeUnset8(unsafe.Pointer, int64, unsafe.Pointer, int64) {
	panic("gather: no writeUnset8 on this processor")
}
