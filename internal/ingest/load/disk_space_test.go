package load

import (
	"errors"
	"os"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// TestALoadThatNeedsMoreSpaceIsRefusedBeforeItWrites loads with one byte of free space less than
// needed, and with exactly as much as needed.
func TestALoadThatNeedsMoreSpaceIsRefusedBeforeItWrites(t *testing.T) {
	path := loadtest.File(t, "a.csv", "t,a\n1,1\n2,2.5\n")
	for _, c := range []struct {
		options option.Options
		need    int64
	}{
		{option.Options{}, 2*16 + 1<<16},
		// float64 while the column is scaled, then float32
		{option.Options{Scale: option.All(option.ScaleStandard), Columns: []string{"a"}, Time: "t"},
			2*(8+4+8) + 1<<16},
		{option.Options{Sort: true, Time: "t"}, 2*(16+16+8) + 1<<16},
	} {
		c.options.Sources = []string{path}
		dir := t.TempDir()
		l := newLoad(dir, c.options, &progress.Meter{})
		for _, have := range []int64{c.need - 1, c.need} {
			l.freeSpace = func(of string) int64 {
				if of != dir {
					t.Errorf("asked for the free space of %s", of)
				}
				return have
			}
			_, err := l.run(t.Context())
			var s *loaderr.NoSpaceError
			if have == c.need {
				if err != nil {
					t.Errorf("%+v: %v", c.options, err)
				}
			} else if !errors.As(err, &s) || s.Need != c.need || s.Have != have {
				t.Errorf("%+v: %v, want %d needed", c.options, err, c.need)
			} else if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%v was written", left)
			}
			l = newLoad(dir, c.options, &progress.Meter{})
		}
	}
}
