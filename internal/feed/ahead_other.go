//go:build !amd64

package feed

import "unsafe"

// prefetch does nothing: Go has no word for it.
func prefetch(unsafe.Pointer, int64, int64) {}
