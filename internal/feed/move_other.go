//go:build !amd64

package feed

import "unsafe"

const canRepeat = false

func repeat(unsafe.Pointer, unsafe.Pointer, int64) { panic("feed: no repeat on this processor") }
