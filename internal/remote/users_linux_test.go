package remote

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestOtherUsersAreRefused stages as a user whom the daemon lets in, but who may not write below the
// cache directory.
func TestOtherUsersAreRefused(t *testing.T) {
	srv := newServer(t, 10)
	dir := cacheDir(t)
	if os.Getuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Fatal(err)
		}
		defer unix.SetfsuidRetUid(0) //nolint:errcheck // root may
	} else if err := os.Chmod(filepath.Join(dir, "tmp"), 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Stage(t.Context(), dir, []string{srv.URL}, quick)
	var p *wire.Problem
	if !errors.As(err, &p) || p.Type != wire.Forbidden || err.Error() != p.Detail ||
		!strings.HasSuffix(p.Detail, "/tmp: permission denied") ||
		!strings.Contains(p.Hint, "only the user of the daemon") {
		t.Errorf("got %v, want a problem with what to do", err)
	}
}
