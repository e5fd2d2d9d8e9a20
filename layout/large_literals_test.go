package layout

import (
	"path/filepath"
	"testing"
)

// TestLiteralsBeyond2To53AreStillRead reads a generation of an earlier version, whose fill and clip
// accepted integers beyond 2^53. testdata/literals/README.md describes it.
func TestLiteralsBeyond2To53AreStillRead(t *testing.T) {
	d := open(t, filepath.Join("..", "testdata", "literals"))
	if err := d.Verify(); err != nil {
		t.Fatal(err)
	}
	const fill, low, high = 1<<60 + 1, -1<<60 - 3, 1<<62 + 3
	n := []int64{1<<60 + 3, fill, low, 7, fill, 1<<60 - 1, high, fill}
	checkColumn[int64](t, d, "n", func(row, _ int) int64 { return n[row] })
	u := []uint64{1<<64 - 1, 1<<63 + 1, 1<<63 + 1, 0, 5, 1<<63 + 1, 1<<53 + 1, 1}
	checkColumn[uint64](t, d, "u", func(row, _ int) uint64 { return u[row] })
	for name, missing := range map[string]int64{"n": 3, "u": 2, "x": 2} {
		c, err := d.Manifest.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := d.BeforeFill(c)
		if _, cells := runs.Count(); err != nil || cells != missing || c.Prepared.Fill != "value" {
			t.Errorf("column %q: fill %q, %d cells, %v", name, c.Prepared.Fill, cells, err)
		}
	}
}
