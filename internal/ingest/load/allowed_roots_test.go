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

// TestALinkThatLeavesTheRootIsNotFollowed exchanges a link between a file inside and one outside while
// it is loaded, again and again.
func TestALinkThatLeavesTheRootIsNotFollowed(t *testing.T) {
	root, _ := loadtest.Fenced(t)
	path := filepath.Join(root, "turning.csv")
	turn := func(to string) {
		if err := errors.Join(os.Symlink(to, path+".new"),
			os.Rename(path+".new", path)); err != nil {
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
		_, dir, err := loadInProcess(t, option.Options{Sources: []string{path},
			AllowedRoots: files.AllowedRoots{Limited: true, Roots: []string{root}}})
		if err != nil {
			refusals++
			continue
		}
		loads++
		if l := loadtest.OpenDir(t, dir); !slices.Equal(loadtest.Values[int64](l, "a"),
			[]int64{1}) {
			t.Fatalf("read %v from outside", loadtest.Values[int64](l, "a"))
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d loads, %d refusals", loads, refusals)
}
