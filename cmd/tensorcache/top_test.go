package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestTopFillsATerminalAndRestoresIt resizes the terminal and presses q.
func TestTopFillsATerminalAndRestoresIt(t *testing.T) {
	dir := t.TempDir()
	d := startFaulty(t, dir, "", os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
	defer d.stop()
	source := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(source, []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if job, err := d.load("prices", source); err != nil || job.State != wire.JobDone {
		t.Fatalf("%+v, %v", job, err)
	}
	cmd := exec.Command(os.Args[0], "top", "--dir", dir, "--interval", "50ms")
	cmd.Env = append(os.Environ(), mainEnv+"=1", "GORACE="+raceOptions)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var shown testlog.Buffer
	read := make(chan struct{})
	// reading from a closed terminal returns an error
	go func() { _, _ = io.Copy(&shown, f); close(read) }()
	says := func(what string) {
		t.Helper()
		for end := time.Now().Add(testTimeout); !strings.Contains(shown.String(), what); time.Sleep(
			5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no %q in %q", what, shown.String())
			}
		}
	}
	says(enterScreen + cursorHome)
	says("prices")
	says("q quits")
	if strings.Contains(shown.String(), "\x1b[2J") {
		t.Error("the screen is cleared before it is drawn")
	}
	if err := pty.Setsize(f, &pty.Winsize{Rows: 2, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	says(cursorHome + "20") // a date, in a line that is truncated to 20 columns
	for end := time.Now().Add(testTimeout); ; time.Sleep(5 * time.Millisecond) {
		pictures := strings.Split(shown.String(), cursorHome)
		if last := pictures[len(pictures)-1]; len(pictures) > 2 &&
			strings.HasSuffix(last, "q quits; below: 7 mo") && strings.Count(last, "\n") == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a window of 2 lines shows %q", pictures[len(pictures)-1])
		}
	}
	if _, err := f.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	<-read // the terminal is restored after all output
	if !strings.HasSuffix(shown.String(), leaveScreen) {
		t.Errorf("the terminal is left as %q", shown.String()[max(0, len(shown.String())-80):])
	}
}

func TestAFrameFitsTheTerminal(t *testing.T) {
	text := "one\ntwo is longer\näöü is as long as it looks\nfour\n"
	for _, size := range [][2]int{{80, 24}, {5, 3}, {1, 1}, {7, 0}} {
		lines := strings.Split(strings.TrimPrefix(renderFrame(text, size[0], size[1]),
			cursorHome), "\r\n")
		if len(lines) > max(size[1], 1) {
			t.Errorf("%d lines on a screen of %d", len(lines), size[1])
		}
		for _, line := range lines {
			if line = strings.NewReplacer(clearLine, "", clearRest, "").Replace(line); len(
				[]rune(line)) > size[0] {
				t.Errorf("%q is wider than %d", line, size[0])
			}
		}
	}
}

// TestAFrameSaysWhatDoesNotFit draws lists of datasets of many lengths.
func TestAFrameSaysWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		lines, height int
		want          string
	}{{23, 24, "q quits"}, {24, 24, "below: 1 more line "}, {30, 24, "below: 7 more lines "}} {
		frame := renderFrame(strings.Repeat("dataset\n", c.lines), 80, c.height)
		last := frame[strings.LastIndex(frame, clearRest)+len(clearRest):]
		if !strings.Contains(last, c.want) || strings.Contains(last, "below") != (c.want != "q quits") {
			t.Errorf("%d lines on %d: %q, want %q", c.lines, c.height, last, c.want)
		}
	}
}

func TestARateIsOfTheTimeSinceTheLastSnapshot(t *testing.T) {
	now := time.Now()
	last := &snapshot{Time: now.Add(-2 * time.Second),
		Feeds: []feedRate{{Feed: wire.Feed{Feed: "f1", Batches: 100}}}}
	f := wire.Feed{Feed: "f1", Batches: 130, Seconds: 1000}
	if got := batchRate(f, now, last); got < 14.99 || got > 15.01 {
		t.Errorf("%v batches a second, want 30 in 2 s", got)
	}
	if got := batchRate(f, now, nil); got != 0.13 {
		t.Errorf("%v batches a second at first, want 130 in 1000 s", got)
	}
}
