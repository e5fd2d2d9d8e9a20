// Package golden compares lists of public names with the files in testdata/public. Only tests
// import it.
package golden

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Check sorts lines, removes duplicates and compares them with testdata/public/name below root,
// the path of the repository's root. If update is true, it writes the file first.
func Check(t *testing.T, root, name string, lines []string, update bool) {
	t.Helper()
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	path := filepath.Join(root, "testdata", "public", name)
	if update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	removed, added := without(golden, lines), without(lines, golden)
	if len(removed)+len(added) == 0 && slices.Equal(golden, lines) {
		return
	}
	t.Errorf("testdata/public/%s differs from the program:\n%s"+
		"if the change is intended, add a line to CHANGELOG.md and update the file with go test -run %s -update",
		name, prefixed("- ", removed)+prefixed("+ ", added), t.Name())
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// prefixed returns one line for each element.
func prefixed(prefix string, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(prefix + line + "\n")
	}
	return b.String()
}
