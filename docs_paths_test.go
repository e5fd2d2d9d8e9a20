package tensorcache_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	namedFile = regexp.MustCompile("`([A-Za-z_][\\w/.-]*\\.(?:go|py|s))`")
	link      = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// TestFilesThatThePagesNameExist checks the files that the pages for maintainers name, and their
// links. A path may be relative to one of the folders below.
func TestFilesThatThePagesNameExist(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no decisions:", err)
	}
	folders := []string{"", "internal/feed", "internal/ingest/load",
		"internal/ingest/source/parquet", "clients/python/src/tensorcache"}
	for _, page := range append(pages, "docs/ARCHITECTURE.md", "docs/releases.md", "CONTRIBUTING.md",
		"SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedFile.FindAllSubmatch(text, -1) {
			if !existsIn(folders, string(m[1])) {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if !existsIn([]string{filepath.Dir(page)}, string(m[1])) {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}

// existsIn reports whether a path exists below one of the folders.
func existsIn(folders []string, path string) bool {
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, path)); err == nil {
			return true
		}
	}
	return false
}
