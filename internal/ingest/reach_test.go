package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
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

func TestALimitedReachEndsAtItsRoots(t *testing.T) {
	root, outside := fenced(t)
	const beyond = "lies below none of the folders that may be loaded from by other users and over TCP"
	for path, want := range map[string]string{
		"a.csv": "", "in/b.csv": "", "in": "", "near.csv": "", "inside/b.csv": "", "in/../a.csv": "", "./a.csv": "", "hive/k=1": "",
		"none.csv": "no such file", "pipe.csv": "is a pipe", "a.csv/x": "not a directory",
		"../rooted/secret.csv": beyond, "../rooted/none.csv": beyond, "..": beyond, "../..": beyond, "in/../../rooted/secret.csv": beyond,
		"out.csv": beyond, "twice.csv": beyond, "absolute.csv": beyond, "outside": beyond, "outside/secret.csv": beyond, "hive": beyond,
	} {
		for _, o := range []option.Options{
			{Sources: []string{root + "/" + path}, Reach: files.Reach{Limited: true, Roots: []string{filepath.Join(root, "in"), root}}},
			{Sources: []string{root + "/" + path}, Reach: files.Reach{Limited: true, Roots: []string{root + "/"}}, HashSources: true},
		} {
			_, err := o.Reach.Stat(o.Sources)
			_, _, err2 := inProcess(t, o)
			_, err3 := Run(t.Context(), os.Args[0], job(t, o), nil, nil)
			for _, err := range []error{err, err2, err3} {
				var source *loaderr.SourceError
				switch {
				case want == "" && err != nil:
					t.Errorf("%s: %v", path, err)
				case want == "":
				case !errors.As(err, &source) || !strings.Contains(err.Error(), want) || source.Beyond != (want == beyond) || source.Beyond != strings.Contains(source.Hint, "--root"):
					t.Errorf("%s: got %v, want %q", path, err, want)
				}
			}
		}
	}
	for name, r := range map[string]files.Reach{"no root": {Limited: true}, "root that is gone": {Limited: true, Roots: []string{filepath.Join(outside, "none")}}} {
		if _, err := r.Stat([]string{filepath.Join(outside, "secret.csv")}); !errors.Is(err, loaderr.ErrSource) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (files.Reach{Limited: true, Roots: []string{"/"}}).Stat([]string{filepath.Join(root, "out.csv")}); err != nil {
		t.Errorf("everything is below /: %v", err)
	}
}

// TestALinkThatTurnsAwayIsNotFollowed exchanges a link between a file inside and one outside while it is loaded, again and again.
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
		if l := openDir(t, dir); !slices.Equal(values[int64](l, "a"), []int64{1}) {
			t.Fatalf("read %v from outside", values[int64](l, "a"))
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d loads, %d refusals", loads, refusals)
}
