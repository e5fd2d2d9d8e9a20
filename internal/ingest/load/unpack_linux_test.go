package load

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// TestDecompressionOntoAFullDiskIsANoSpaceError decompresses a file onto a file system of 256 KiB.
func TestDecompressionOntoAFullDiskIsANoSpaceError(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("needs to mount a tmpfs")
		}
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	path := loadtest.File(t, "x.csv.gz",
		loadtest.Compressed(t, ".gz", "a,b\n"+strings.Repeat("1,2\n", 1<<18)))
	_, err := newLoad(dir, option.Options{Sources: []string{path}},
		&progress.Meter{}).run(t.Context())
	var s *loaderr.NoSpaceError
	if !errors.As(err, &s) || s.Need <= 256<<10 || s.Dir != dir ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("%v is %+v", err, s)
	}
}
