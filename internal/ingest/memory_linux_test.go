package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsLeftToAGroupIsTheLeastOfThoseAboveIt(t *testing.T) {
	root := t.TempDir()
	f := groupFiles{"memory.max", "memory.current", "inactive_file"}
	group := func(path, limit, usage, stat string) {
		t.Helper()
		dir := filepath.Join(root, path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"memory.max": limit, "memory.current": usage, "memory.stat": stat} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	group("", "max", "5000", "anon 1")
	group("a", "1000", "900", "anon 10\ninactive_file 50\nfile 3")
	group("a/b", "4000", "300", "inactive_file 0")
	if left := leftInGroups(root, "/a/b", f); left != 150 {
		t.Errorf("%d bytes are left, want 1000 - 900 + 50 of the group above", left)
	}
	if left := leftInGroups(root, "/elsewhere", f); left < 1<<60 {
		t.Errorf("%d bytes are left to a group that does not tell", left)
	}
	if have := availableMemory(); have <= 0 || have > 1<<50 {
		t.Errorf("%d bytes of memory are available", have)
	}
}
