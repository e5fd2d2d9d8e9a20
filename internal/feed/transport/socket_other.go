//go:build !linux

package transport

import (
	"errors"
	"time"
)

// waitReadable is never called: no feed has a queue here.
func waitReadable(int, time.Duration) (bool, error) { return false, errors.ErrUnsupported }

// HasQueues reports whether a client in any language can be one side of a queue on this system.
func HasQueues() bool { return false }
