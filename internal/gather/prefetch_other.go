//go:build !amd64

package gather

import "unsafe"

// prefetch does nothing: Go has no instruction for it.
func prefetch(unsafe.Pointer, int64, int64) {}
