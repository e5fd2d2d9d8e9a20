// Package testlog adds the end of a daemon's log to the output of a failed test. Only tests import
// it.
package testlog

import (
	"bytes"
	"io"
	"os"
	"sync"
	"testing"
)

// lines is how many lines of a log a failed test shows.
const lines = 80

// OnFailure shows the last lines of a log file when a test ends that has failed. Call it before the
// daemon is started, so that t.Cleanup stops the daemon first. A file that does not exist is no
// error.
func OnFailure(t testing.TB, path string) {
	t.Helper()
	t.Cleanup(func() { Show(t, path) })
}

// Show shows the last lines of a log file if a test has failed. Its parameter is a part of
// testing.TB that the tests of scripts have, too.
func Show(t interface {
	Failed() bool
	Log(...any)
}, path string) {
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

// last returns the last lines of a text.
func last(text []byte) string {
	all := bytes.SplitAfter(text, []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-1-lines):], nil))
}
