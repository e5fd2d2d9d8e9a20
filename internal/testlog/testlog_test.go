package testlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that has failed or not, and what it logged.
type recorder struct {
	testing.TB
	failed   bool
	logged   string
	cleanups []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Failed() bool      { return r.failed }
func (r *recorder) Log(values ...any) { r.logged += fmt.Sprint(values...) }
func (r *recorder) Cleanup(f func())  { r.cleanups = append(r.cleanups, f) }

func TestOnlyAFailedTestShowsTheLastLines(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintln(&text, "line", i)
	}
	path := filepath.Join(t.TempDir(), "daemon.log")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, failed := range []bool{false, true} {
		fromFile, written := &recorder{failed: failed}, &recorder{failed: failed}
		OnFailure(fromFile, path)
		OnFailure(fromFile, filepath.Join(t.TempDir(), "no such file"))
		fmt.Fprint(Writer(written), text.String())
		for _, r := range []*recorder{fromFile, written} {
			for _, f := range r.cleanups {
				f()
			}
			if got := strings.Contains(r.logged, "line 99"); got != failed {
				t.Errorf("failed %v: shown %v", failed, got)
			}
			if n := strings.Count(r.logged, "line "); failed && n != lines {
				t.Errorf("%d lines, want %d", n, lines)
			}
		}
	}
}

func TestAReportOfACrashIsShownFromItsBegin(t *testing.T) {
	text := strings.Repeat("before\n", 200) + "WARNING: DATA RACE\n" + strings.Repeat("stack\n", 200)
	got := last([]byte(text))
	if !strings.HasPrefix(got, "WARNING: DATA RACE\n") || strings.Count(got, "stack") != 200 {
		t.Error(got)
	}
	if got := last([]byte(text + strings.Repeat("after\n", 200))); strings.Count(got, "\n") != maxLines {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}
