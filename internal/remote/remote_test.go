package remote

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/origin"
)

const mib = 1 << 20

// quick are options for tests. A busy machine may be silent for seconds.
var quick = Options{Silence: time.Minute, Pause: time.Millisecond}

// cacheDir returns a cache directory, and checks at the end that nothing is left in it.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkEmpty(t, dir) })
	return dir
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

// stage stages URLs and closes the staging at the end of the test.
func stage(t *testing.T, o Options, urls ...string) (*Staging, error) {
	t.Helper()
	dir := cacheDir(t)
	s, err := Stage(t.Context(), dir, urls, o)
	if err != nil {
		checkEmpty(t, dir)
		return nil, err
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, nil
}

// fetch stages one URL and copies ranges of it; nil is the whole file.
func fetch(t *testing.T, o Options, url string, ranges origin.Ranges) (*Staging, error) {
	t.Helper()
	s, err := stage(t, o, url)
	if err != nil {
		return nil, err
	}
	return s, s.Fetch(t.Context(), []origin.Missing{{Path: s.Sources()[0], Ranges: ranges}})
}

// checkCopy checks that all staged bytes of a copy are those of the server.
func checkCopy(t *testing.T, s *Staging, want []byte) origin.File {
	t.Helper()
	f := s.Origins()[0]
	got, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || f.Size != int64(len(want)) {
		t.Fatalf("the copy has %d bytes and size %d, want %d", len(got), f.Size, len(want))
	}
	for _, r := range f.Ranges {
		if !bytes.Equal(got[r[0]:r[1]], want[r[0]:r[1]]) {
			t.Errorf("bytes %v differ", r)
		}
	}
	if err := s.Origins().Validate(); err != nil {
		t.Error(err)
	}
	return f
}

func TestOnlyWantedRangesAreFetched(t *testing.T) {
	srv := newServer(t, 40*mib)
	wanted := origin.Range{5*mib + 3, 5*mib + 1003}
	s, err := fetch(t, quick, srv.URL+"/a.parquet", origin.Ranges{wanted})
	if err != nil {
		t.Fatal(err)
	}
	f := checkCopy(t, s, srv.data)
	if want := (origin.Ranges{wanted}); !slices.Equal(f.Ranges, want) {
		t.Errorf("staged %v, want %v", f.Ranges, want)
	}
	if srv.sent.Load() != 1000 {
		t.Errorf("the server sent %d bytes, want 1000", srv.sent.Load())
	}
	if *f.ETag != `"v1"` || *f.Mtime != "2026-01-02T03:04:05Z" || f.URL != srv.URL+"/a.parquet" {
		t.Errorf("got %q, %q, %q", *f.ETag, *f.Mtime, f.URL)
	}
	err = s.Fetch(t.Context(), []origin.Missing{{Path: f.Path, Ranges: origin.Ranges{wanted}}})
	if err != errStaged {
		t.Errorf("got %v, want an error for bytes that are staged", err)
	}
	if err := s.Fetch(t.Context(), []origin.Missing{{Path: f.Path}}); err != nil {
		t.Fatal(err)
	}
	if f := checkCopy(t, s, srv.data); !f.Ranges.Contain(0, f.Size) {
		t.Errorf("staged %v, want all", f.Ranges)
	}
	if srv.sent.Load() != 40*mib {
		t.Errorf("the server sent %d bytes, want each byte once", srv.sent.Load())
	}
}

// TestTimesThatDoNotTellVersionsApart: a load that compares them would be a wrong hit.
func TestTimesThatDoNotTellVersionsApart(t *testing.T) {
	for _, c := range []struct {
		name, query string
		age         time.Duration
		want        bool
	}{
		{"old", "", time.Hour, true},
		{"another answer of one script", "?id=1", time.Hour, false},
		{"changed in this second", "", 0, false},
	} {
		srv := newServer(t, 100)
		srv.etag = ""
		srv.change = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			at := time.Now().Add(-c.age)
			w.Header().Set("Last-Modified", at.UTC().Format(http.TimeFormat))
			return false
		}
		s, err := stage(t, quick, srv.URL+"/a.csv"+c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Origins()[0].Mtime; (got != nil) != c.want {
			t.Errorf("%s: the origin has the time %v, want one: %v", c.name, got, c.want)
		}
	}
}

// TestYoungFileIsCopiedByOneRequest changes a file within the second of its time, so that nothing
// tells the two versions apart.
func TestYoungFileIsCopiedByOneRequest(t *testing.T) {
	srv := newServer(t, 3*mib)
	srv.etag = ""
	first := srv.data
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat) // after each answer
	srv.change = func(w http.ResponseWriter, _ *http.Request, n int) bool {
		w.Header().Set("Last-Modified", at)
		if n == 2 {
			srv.data = make([]byte, len(first))
		}
		return false
	}
	s, err := fetch(t, quick, srv.URL+"/a.parquet", origin.Ranges{{0, 100}, {mib, mib + 100}})
	if err != nil {
		t.Fatal(err)
	}
	checkCopy(t, s, first)
	if n := srv.gets.Load(); n != 1 {
		t.Errorf("the server answered %d times, want 1", n)
	}
}

func TestNothingIsFetchedBeforeFetch(t *testing.T) {
	srv := newServer(t, 2*mib)
	s, err := stage(t, quick, srv.URL+"/a/x.csv", srv.URL+"/b/x.csv")
	if err != nil {
		t.Fatal(err)
	}
	if srv.sent.Load() != 0 {
		t.Errorf("the server sent %d bytes", srv.sent.Load())
	}
	for _, f := range s.Origins() {
		if f.Ranges == nil || len(f.Ranges) != 0 || filepath.Base(f.Path) != "x.csv" {
			t.Errorf("got %v of %s, want no bytes of x.csv", f.Ranges, f.Path)
		}
		st, err := os.Stat(f.Path)
		if err != nil || st.Size() != f.Size {
			t.Errorf("got size %v, want %d", st, f.Size)
		}
		if blocks := st.Sys().(*syscall.Stat_t).Blocks; blocks != 0 {
			t.Errorf("%s takes %d blocks, want a sparse file", f.Path, blocks)
		}
	}
}

func TestDirectoryIsLockedAndPrivate(t *testing.T) {
	srv := newServer(t, 10)
	s, err := stage(t, quick, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.Open(filepath.Join(s.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Errorf("got %v, want a locked file", err)
	}
	st, err := os.Stat(s.dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", st.Mode(), err)
	}
	if base := filepath.Base(s.dir); !strings.HasPrefix(base, "staging-") {
		t.Errorf("got %s", base)
	}
}

func TestCancelledFetchLeavesNothing(t *testing.T) {
	srv := newServer(t, 50*mib)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := quick
	o.Progress = func(int64, int64) { cancel() }
	dir := cacheDir(t)
	s, err := Stage(ctx, dir, []string{srv.URL + "/x"}, o)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Fetch(ctx, []origin.Missing{{Path: s.Sources()[0]}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	checkEmpty(t, dir)
	if err := s.Close(); err != nil {
		t.Errorf("the second Close returned %v", err)
	}
}

func TestProgressEndsWithTheTotal(t *testing.T) {
	srv := newServer(t, 3*mib)
	var done, total int64
	o := quick
	o.Progress = func(d, n int64) {
		if d < done || d > n {
			t.Errorf("got %d of %d after %d", d, n, done)
		}
		done, total = d, n
	}
	if _, err := fetch(t, o, srv.URL+"/x", nil); err != nil {
		t.Fatal(err)
	}
	if total != 3*mib {
		t.Errorf("the total is %d, want %d", total, 3*mib)
	}
}

func TestSpaceIsCheckedBeforeFetching(t *testing.T) {
	srv := newServer(t, 3*mib)
	for name, change := range map[string]func(){
		"ranges": func() {}, "no ranges": func() { srv.change = srv.noRanges }} {
		t.Run(name, func(t *testing.T) {
			change()
			o := quick
			o.Free = func(string) (int64, error) { return mib, nil }
			before := srv.sent.Load()
			_, err := fetch(t, o, srv.URL+"/x", nil)
			if err == nil || !strings.Contains(err.Error(), "needs 3.0 MiB in ") ||
				!strings.HasSuffix(err.Error(), "and 1.0 MiB are free") {
				t.Errorf("got %v", err)
			}
			if name == "ranges" && srv.sent.Load() != before {
				t.Error("the server sent bytes")
			}
		})
	}
}

func TestDaemonMayNotAskForOtherFiles(t *testing.T) {
	srv := newServer(t, 10)
	s, err := stage(t, quick, srv.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fetch(t.Context(), []origin.Missing{{Path: "/etc/passwd"}}); err == nil {
		t.Error("got no error")
	}
	// Bytes behind the end are not asked for.
	err = s.Fetch(t.Context(), []origin.Missing{{Path: s.Sources()[0],
		Ranges: origin.Ranges{{5, 1000}}}})
	if err != nil {
		t.Fatal(err)
	}
	checkCopy(t, s, srv.data)
}
