//go:build faults

package fault

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Enabled reports whether this build can inject faults.
const Enabled = true

var reached, named atomic.Int64

// At returns the error of the fault at a point. A fault may also kill the process or make it wait.
func At(point string) error {
	kind, where, ok := strings.Cut(os.Getenv("TENSORCACHE_FAULT"), "@")
	if !ok { // the next fault counts from here
		reached.Store(0)
		named.Store(0)
		return nil
	}
	if !matches(where, point) {
		return nil
	}
	switch kind {
	case "KILL":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "HOLD":
		_, _ = os.ReadFile(os.Getenv("TENSORCACHE_HOLD")) // until its writer closes it
		return nil
	case "ENOSPC":
		return fmt.Errorf("fault at %s: %w", point, syscall.ENOSPC)
	case "EIO":
		return fmt.Errorf("fault at %s: %w", point, syscall.EIO)
	}
	panic("TENSORCACHE_FAULT: " + kind + " is none of ENOSPC, EIO, KILL, HOLD")
}

// matches counts the point and reports whether the fault is there.
func matches(where, point string) bool {
	n := reached.Add(1)
	if want, err := strconv.ParseInt(where, 10, 64); err == nil {
		return n == want
	}
	name, nth, counted := strings.Cut(where, "#")
	if name != point {
		return false
	}
	if !counted {
		return true
	}
	return strconv.FormatInt(named.Add(1), 10) == nth
}
