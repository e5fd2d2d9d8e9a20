package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsThatAreNotUTF8AreRefused names a file itself, and by a pattern.
func TestPathsThatAreNotUTF8AreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a\xff.csv")
	if err := os.WriteFile(path, []byte("v\n1\n"), 0o600); err != nil {
		t.Skip("the file system has only names that are UTF-8:", err)
	}
	for _, arg := range []string{path, filepath.Join(filepath.Dir(path), "*.csv")} {
		_, err := sourcePaths([]string{arg})
		if err == nil || !strings.Contains(err.Error(), `a\xff.csv": the name is not UTF-8`) {
			t.Errorf("%q: got %v", arg, err)
		}
	}
}
