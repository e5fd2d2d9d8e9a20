package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnlyVerbsThatStoreMakeADirectory runs every other verb with the name of a directory that
// does not exist.
func TestOnlyVerbsThatStoreMakeADirectory(t *testing.T) {
	t.Setenv("TENSORCACHE_AUTOSTART", "1")
	harmless := []string{"version", "completion", "doctor", "stop"}
	for _, cmd := range newRoot().Commands() {
		if slices.Contains([]string{"serve", "load", "put"}, cmd.Name()) {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "parent")
			args := []string{cmd.Name(), "--dir", filepath.Join(parent, "cache")}
			for _, word := range strings.Fields(cmd.Use)[1:] {
				if word == strings.ToUpper(word) {
					args = append(args, "x")
				}
			}
			switch cmd.Name() {
			case "top":
				args = append(args, "--count", "1")
			case "bench":
				args = append(args, "x")
			case "plan":
				args = append(args, "--context-length", "1")
			}
			root := newRoot()
			root.SetArgs(args)
			root.SetOut(io.Discard)
			root.SetErr(io.Discard)
			err := root.Execute()
			if _, missing := os.Stat(parent); missing == nil {
				t.Errorf("%q made the directory", args)
			}
			if err == nil && !slices.Contains(harmless, cmd.Name()) {
				t.Errorf("%q: no error", args)
			}
		})
	}
}
