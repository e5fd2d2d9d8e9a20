package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestALinkThatLeavesTheRootIsNotFollowed loads a symbolic link while another goroutine points it
// to a file inside and a file outside of the allowed root, in turn. No load may read the file
// outside.
func TestALinkThatLeavesTheRootIsNotFollowed(t *testing.T) {
	root, _ := loadtest.RootAndOutside(t)
	path := filepath.Join(root, "link.csv")
	pointTo := func(to string) {
		if err := errors.Join(os.Symlink(to, path+".new"),
			os.Rename(path+".new", path)); err != nil {
			t.Error(err)
		}
	}
	pointTo("a.csv")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				pointTo([]string{"../rooted/secret.csv", "a.csv"}[i%2])
			}
		}
	}()
	loads, refusals := 0, 0
	for range 300 {
		_, dir, err := loadInProcess(t, option.Options{Sources: []string{path},
			AllowedRoots: files.AllowedRoots{Limited: true, Roots: []string{root}}})
		if err != nil {
			refusals++
			continue
		}
		loads++
		if l := loadtest.OpenDir(t, dir); !slices.Equal(loadtest.Values[int64](l, "a"),
			[]int64{1}) {
			t.Fatalf("read %v from outside of the root", loadtest.Values[int64](l, "a"))
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d loads, %d refusals", loads, refusals)
}
