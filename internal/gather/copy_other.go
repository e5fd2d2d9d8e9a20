//go:build !amd64

package gather

import "unsafe"

const hasFastRep = false

func repMovsb(unsafe.Pointer, unsafe.Pointer, int64) {
	panic("gather: no REP MOVSB on this processor")
}
