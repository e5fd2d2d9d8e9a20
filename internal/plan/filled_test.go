package plan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

func TestFilledAndMissingRowsAreMergedRowByRow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cells := rapid.SliceOfN(rapid.Int64Range(0, 3), 12, 12)
		before, now := cells.Draw(r, "before"), cells.Draw(r, "now")
		var runs layout.MissingRows
		var missing, want []window.MissingRow
		for row := range before {
			runs.Add(int64(row), before[row])
			if now[row] > 0 {
				missing = append(missing, window.MissingRow{Row: int64(row), Cells: now[row]})
			}
			if n := max(before[row], now[row]); n > 0 {
				want = append(want, window.MissingRow{Row: int64(row), Cells: n})
			}
		}
		if got := merged(runs, missing); !slices.Equal(got, want) {
			r.Fatalf("%v, want %v", got, want)
		}
	})
}
