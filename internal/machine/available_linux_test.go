package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAvailableMemoryOfAGroupIsTheSmallestOfItsAncestors(t *testing.T) {
	root := t.TempDir()
	files := groupFiles{"memory.max", "memory.current", "inactive_file"}
	write := func(path, limit, usage, stat string) {
		t.Helper()
		dir := filepath.Join(root, path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"memory.max": limit, "memory.current": usage,
			"memory.stat": stat} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("", "max", "5000", "anon 1")
	write("a", "1000", "900", "anon 10\ninactive_file 50\nfile 3")
	write("a/b", "4000", "300", "inactive_file 0")
	write("a/c", "700", "0", "")
	for path, want := range map[string]struct{ available, limit int64 }{
		"/a/b":         {150, 1000}, // 1000 - 900 + 50 of the group above
		"/a/b/not/yet": {150, 1000}, // in a container: a path on the host
		"/a/c":         {150, 700},
		"/elsewhere":   {noLimit, noLimit},
		"":             {noLimit, noLimit},
	} {
		g := group{root, path, files}
		if available, limit := g.available(), g.limit(); available != want.available ||
			limit != want.limit {
			t.Errorf("%q: %d bytes of %d are left, want %d of %d", path, available, limit,
				want.available, want.limit)
		}
	}
}

func TestLimitIsAtMostTheMemoryOfTheMachine(t *testing.T) {
	total, limit, available := Total(), Limit(), Available()
	if limit <= 0 || limit > total || available <= 0 || available > total || total > 1<<50 {
		t.Errorf("limit %d and %d available of %d bytes", limit, available, total)
	}
}
