package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResetOOMScoreLowersOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "oom_score_adj")
	if err := resetOOMScore(file); err != nil {
		t.Errorf("without the file: %v", err)
	}
	for before, want := range map[string]string{"1000\n": "0", "0\n": "0\n", "-997\n": "-997\n"} {
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := resetOOMScore(file); err != nil {
			t.Errorf("%q: %v", before, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%q became %q (%v), want %q", before, got, err, want)
		}
	}
}
