package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// fenced is a root with some files in it and outside of it.
func fenced(t *testing.T) (root, outside string) {
	t.Helper()
	base := t.TempDir()
	root, outside = filepath.Join(base, "root"), filepath.Join(base, "rooted") // whose name begins like the root's
	for path, text := range map[string]string{
		filepath.Join(root, "a.csv"):              "a\n1\n",
		filepath.Join(root, "in", "b.csv"):        "a\n1\n",
		filepath.Join(root, "hive", "k=1/c.csv"):  "a\n1\n",
		filepath.Join(outside, "secret.csv"):      "a\n2\n",
		filepath.Join(outside, "k=2", "more.csv"): "a\n2\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{
		{"a.csv", "near.csv"}, {"../rooted/secret.csv", "out.csv"}, {filepath.Join(outside, "secret.csv"), "absolute.csv"}, {"../rooted", "outside"},
		{"../../rooted/k=2", "hive/k=2"}, {"out.csv", "twice.csv"}, {"in", "inside"},
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

// TestALinkThatTurnsAwayIsNotFollowed exchanges a link between a file inside and one outside while it is loadtest.Loaded, again and again.
func TestALinkThatTurnsAwayIsNotFollowed(t *testing.T) {
	root, _ := fenced(t)
	path := filepath.Join(root, "turning.csv")
	turn := func(to string) {
		if err := errors.Join(os.Symlink(to, path+".new"), os.Rename(path+".new", path)); err != nil {
			t.Error(err)
		}
	}
	turn("a.csv")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				turn([]string{"../rooted/secret.csv", "a.csv"}[i%2])
			}
		}
	}()
	loads, refusals := 0, 0
	for range 300 {
		_, dir, err := inProcess(t, option.Options{Sources: []string{path}, Reach: files.Reach{Limited: true, Roots: []string{root}}})
		if err != nil {
			refusals++
			continue
		}
		loads++
		if l := loadtest.OpenDir(t, dir); !slices.Equal(loadtest.Values[int64](l, "a"), []int64{1}) {
			t.Fatalf("read %v from outside", loadtest.Values[int64](l, "a"))
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d loads, %d refusals", loads, refusals)
}
