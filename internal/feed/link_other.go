//go:build !linux

package feed

import (
	"errors"
	"time"
)

// waitReadable is never called: no feed has a queue here.
func waitReadable(int, time.Duration) (bool, error) { return false, errors.ErrUnsupported }

// queues reports whether a client in any language can be one side of a queue here.
func queues() bool { return false }
