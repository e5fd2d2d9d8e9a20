package ingest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// TestALoadReportsItsSizeAndEndsIfThatIsRefused compares the sizes that a load, a sorted load and
// an append pass to Room with the size of the result. The load must end with an error of Room.
func TestALoadReportsItsSizeAndEndsIfThatIsRefused(t *testing.T) {
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "%d,%d.5,%d.25\n", (i*7919)%50_000, i, i)
	}
	a, b := loadtest.File(t, "a.csv", "t,x,y\n"+text.String()),
		loadtest.File(t, "b.csv", "t,x,y\n60000,1.5,2.5\n")
	old := loadInProcess(t, option.Options{Sources: []string{a}, Time: "t", Sort: true})
	appended, err := load.AppendOptions(old.Manifest, []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]Job{
		"load": {Options: option.Options{Sources: []string{a}}},
		"sorted load": {Options: option.Options{
			Sources: []string{a}, Time: "t", Sort: true, Scale: option.All(option.ScaleStandard),
		}},
		"append": {Options: appended, Append: &load.Append{Dir: old.Dir, Skip: []string{a}}},
	} {
		t.Run(name, func(t *testing.T) {
			j := j
			j.Dir = t.TempDir()
			var reported []int64
			j.OnSpaceNeeded = func(bytes int64) error {
				reported = append(reported, bytes)
				return nil
			}
			m, err := Run(t.Context(), os.Args[0], j, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			size := m.Files[layout.DataFile].Bytes
			if len(reported) == 0 || reported[len(reported)-1] < size ||
				reported[len(reported)-1] > 4*size {
				t.Errorf("%d bytes were reported, the result has %d", reported, size)
			}
			full := errors.New("full")
			j.Dir, j.OnSpaceNeeded = t.TempDir(), func(int64) error { return full }
			if _, err := Run(t.Context(), os.Args[0], j, nil, nil); err != full {
				t.Errorf("got %v, want the error of Room", err)
			}
		})
	}
}
