package tensorcache

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/testwait"
)

// daemonFile and exampleFile are the binaries of the daemon and of examples/nlinear_go, built from
// this working tree.
var daemonFile, exampleFile string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tcgo")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	daemonFile, exampleFile = filepath.Join(dir, "tensorcache"), filepath.Join(dir, "nlinear_go")
	build := exec.Command("go", append(append([]string{"build"}, raceFlags...), "-o", dir,
		"../../cmd/tensorcache", "../../examples/nlinear_go")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the daemon and the example: %v\n%s", err, out)
		return 1
	}
	os.Setenv("TENSORCACHE_BIN", daemonFile)
	examples := filepath.Join(dir, "examples") // of the examples, which use the default directory
	os.Setenv("TENSORCACHE_DIR", examples)
	os.Unsetenv("TENSORCACHE_AUTOSTART")
	defer func() { os.RemoveAll(sharedState.dir) }()
	code := m.Run()
	if sharedState.cache != nil {
		if err := stop(sharedState.cache); err != nil {
			fmt.Fprintln(os.Stderr, "stop the daemon:", err)
			code = 1
		}
	}
	if c, err := Connect(context.Background(), Options{Dir: examples, NoStart: true}); err == nil {
		if err := stop(c); err != nil {
			fmt.Fprintln(os.Stderr, "stop the daemon of the examples:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// testTimeout limits how long a test waits.
const testTimeout = time.Minute

// stop stops a daemon that a test started.
func stop(c *Cache) error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	return c.Stop(ctx)
}

// sharedState is the daemon of tests that do not change or stop it.
var sharedState struct {
	dir   string
	cache *Cache
}

// sharedDaemon returns the shared daemon. The first test starts it. Each test must leave the
// descriptors and maps of this process as they were.
func sharedDaemon(t testing.TB) *Cache {
	t.Helper()
	if sharedState.cache == nil {
		var err error
		if sharedState.dir, err = os.MkdirTemp("", "tcgo"); err != nil {
			t.Fatal(err)
		}
		if sharedState.cache,
			err = Connect(t.Context(), Options{Dir: sharedState.dir}); err != nil {
			t.Fatal(err)
		}
	}
	testlog.OnFailure(t, filepath.Join(sharedState.dir, "daemon.log"))
	checkLeaks(t, sharedState.cache)
	return sharedState.cache
}

// newDaemon starts a daemon for one test.
func newDaemon(t *testing.T) *Cache {
	t.Helper()
	dir, err := os.MkdirTemp("", "tcgo") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	testlog.OnFailure(t, filepath.Join(dir, "daemon.log"))
	c, err := Connect(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(c); err != nil && !control.IsFree(dir) {
			t.Error(err)
		}
	})
	return c
}

// checkLeaks checks at the test's end that it left no descriptor and no map.
func checkLeaks(t testing.TB, c *Cache) {
	t.Helper()
	c.Close()
	files, maps := countOpen()
	t.Cleanup(func() {
		c.Close()
		testwait.Until(t, "no descriptor and no map more than before", func() bool {
			f, m := countOpen()
			return f <= files && m <= maps
		})
	})
}

// countOpen returns the number of this process's descriptors, and of its maps of cache files and
// rings. It returns 0 if the system does not list them.
func countOpen() (files, maps int) {
	names, _ := os.ReadDir("/proc/self/fd")
	b, _ := os.ReadFile("/proc/self/maps")
	for _, name := range []string{".arrow", ".runs", ".cells", "memfd"} {
		maps += bytes.Count(b, []byte(name))
	}
	return len(names), maps
}

// must returns the value of a call that has to succeed.
func must[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
