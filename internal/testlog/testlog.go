// Package testlog adds the end of a daemon's log to the output of a failed test. Only tests import
// it.
package testlog

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"testing"
)

const (
	// lines is how many lines of a log a failed test shows.
	lines = 80
	// maxLines is how many it shows if a data race or a panic is in the log, from there on.
	maxLines = 400
)

// crash matches the first line of what the Go runtime and the daemon say of a crash.
var crash = regexp.MustCompile("DATA RACE|fatal error|^panic|msg=panic|SIG[A-Z]{3,}")

// Test is the part of testing.TB that the tests of scripts have, too.
type Test interface {
	Failed() bool
	Log(...any)
}

// OnFailure shows the last lines of a log file when a test ends that has failed. Call it before the
// daemon is started, so that t.Cleanup stops the daemon first. A file that does not exist is no
// error.
func OnFailure(t testing.TB, path string) {
	t.Helper()
	t.Cleanup(func() { Show(t, path) })
}

// Show shows the last lines of a log file if a test has failed.
func Show(t Test, path string) {
	if !t.Failed() {
		return
	}
	if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
		t.Log("the last lines of " + path + ":\n" + last(text))
	}
}

// Writer returns where a daemon inside a test writes its log. A failed test shows the last lines.
// It is safe for concurrent use.
func Writer(t testing.TB) io.Writer {
	t.Helper()
	w := &writer{}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if t.Failed() && w.text.Len() > 0 {
			t.Log("the last lines of the daemon's log:\n" + last(w.text.Bytes()))
		}
	})
	return w
}

type writer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

// last returns the last lines of a text, or those from the first sign of a crash on.
func last(text []byte) string {
	all := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	begin := max(0, len(all)-lines)
	for i, line := range all[:begin] {
		if crash.Match(line) {
			begin = i
			break
		}
	}
	return string(bytes.Join(all[begin:min(len(all), begin+maxLines)], nil))
}
