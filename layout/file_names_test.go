package layout

import (
	"strings"
	"testing"
)

// TestFileNamesOfColumnsAreUniqueAndShort names files of columns whose names are longer than the
// 255 bytes that file systems accept.
func TestFileNamesOfColumnsAreUniqueAndShort(t *testing.T) {
	short, long := "a b/ü", strings.Repeat("é", 50)
	if got, want := VocabFile(short), "vocab-a%20b%2F%C3%BC.arrow"; got != want {
		t.Errorf("the vocabulary of %q is in %s, want %s", short, got, want)
	}
	seen := map[string]bool{}
	for _, column := range []string{long, long + "e", strings.Repeat("a", 300)} {
		for _, file := range []string{VocabFile(column), BeforeFillFile(column), FilledCellsFile(column)} {
			if len(file) > 255 || seen[file] {
				t.Errorf("%q has the file %s, which is too long or not unique", column, file)
			}
			seen[file] = true
		}
	}
}
