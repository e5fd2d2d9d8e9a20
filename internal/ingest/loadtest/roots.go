package loadtest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// RootAndOutside creates a root directory and a directory outside of it, and returns their paths.
// The root contains files, a named pipe, and links to files and directories inside and outside of
// it.
func RootAndOutside(t *testing.T) (root, outside string) {
	t.Helper()
	base := t.TempDir()
	// The name of outside begins with the name of root.
	root, outside = filepath.Join(base, "root"), filepath.Join(base, "rooted")
	for path, text := range map[string]string{
		filepath.Join(root, "a.csv"):              "a\n1\n",
		filepath.Join(root, "in", "b.csv"):        "a\n1\n",
		filepath.Join(root, "hive", "k=1/c.csv"):  "a\n1\n",
		filepath.Join(outside, "secret.csv"):      "a\n2\n",
		filepath.Join(outside, "k=2", "more.csv"): "a\n2\n",
	} {
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{
		{"a.csv", "near.csv"},
		{"../rooted/secret.csv", "out.csv"},
		{filepath.Join(outside, "secret.csv"), "absolute.csv"},
		{"../rooted", "outside"},
		{"../../rooted/k=2", "hive/k=2"},
		{"out.csv", "twice.csv"},
		{"in", "inside"},
	} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root, outside
}
