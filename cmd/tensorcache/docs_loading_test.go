package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommandsOfTheLoadingPageAreRun checks that scripts run every command of docs/LOADING.md.
func TestCommandsOfTheLoadingPageAreRun(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var run []string
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		stdin := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if file, ok := strings.CutPrefix(line, "stdin "); ok {
				stdin = " < " + file
			}
			if command, ok := strings.CutPrefix(line, "exec "); ok {
				run = append(run, command, command+stdin)
				stdin = ""
			}
		}
	}
	page, err := os.ReadFile("../../docs/LOADING.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    (tensorcache .*)$`).
		FindAllStringSubmatch(string(page), -1)
	if len(commands) < 25 {
		t.Fatalf("found %d commands only", len(commands))
	}
	for _, c := range commands {
		if !slices.Contains(run, c[1]) {
			t.Errorf("no script runs: %s", c[1])
		}
	}
}
