package main

import (
	"os"
	"strings"
	"testing"
)

func TestFetchedBytesAreShownOnTerminalsOnly(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if newProgressBar(out).fetching("prices") != nil {
		t.Error("progress is written to a file")
	}
	show := (&progressBar{out: out}).fetching("prices")
	show(1<<20, 4<<20)
	show(2<<20, 4<<20) // too early
	show(4<<20, 4<<20)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\r\x1b[K")[1:]
	if len(lines) != 2 ||
		lines[0] != "prices fetch   [#######.......................]  25 %  1.0 MiB of 4.0 MiB" ||
		!strings.HasSuffix(lines[1], "100 %  4.0 MiB of 4.0 MiB") {
		t.Errorf("got %q", lines)
	}
}
