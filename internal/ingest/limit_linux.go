package ingest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limitData limits the private memory of this process, in bytes. Mapped files, such as the result,
// do not count.
func limitData(bytes int64) error {
	if raceEnabled {
		return nil // the race detector's own memory would count
	}
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &have); err != nil {
		return fmt.Errorf("read the memory limit: %w", err)
	}
	want := unix.Rlimit{Cur: min(uint64(bytes), have.Max), Max: have.Max}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &want); err != nil {
		return fmt.Errorf("limit memory to %d bytes: %w", bytes, err)
	}
	return nil
}
