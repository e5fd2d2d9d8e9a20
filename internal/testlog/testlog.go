// Package testlog adds the end of a daemon's log to the output of a failed test. Only tests import
// it.
package testlog

import (
	"bytes"
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
func Writer(t testing.TB) *Buffer {
	t.Helper()
	b := &Buffer{}
	t.Cleanup(func() {
		if text := b.String(); t.Failed() && text != "" {
			t.Log("the last lines of the daemon's log:\n" + last([]byte(text)))
		}
	})
	return b
}

// Buffer collects what is written to it. It is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds bytes; it returns no error.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
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
