package ingest

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// TestMissingCellsOfTensorsAreNoted has tensors of more than a tile with cells missing here and there, columns apart and packed.
func TestMissingCellsOfTensorsAreNoted(t *testing.T) {
	const rows, width = 2*stepTile + 5, 3
	want := layout.MissingRows{{Row: 7, Rows: 1, Cells: 1}, {Row: stepTile - 1, Rows: 2, Cells: 3}, {Row: rows - 1, Rows: 1, Cells: 2}}
	v := make([]float32, rows*width)
	for i := range v {
		v[i] = float32(i % 10)
	}
	v[12*width] = float32(math.Inf(1)) // whose sum with its opposite is no number
	v[12*width+1] = float32(math.Inf(-1))
	for _, m := range want {
		for row := m.Row; row < m.Row+m.Rows; row++ {
			for i := range m.Cells {
				v[row*width+i] = float32(math.NaN())
			}
		}
	}
	for _, how := range []string{layout.Columns, layout.Packed} {
		c, b := columnBytes(t, "a", "float32", []int64{rows, width}, v)
		d, more := columnBytes(t, "b", "float32", []int64{rows}, v[:rows])
		dir, err := receivedFrom(t, Options{Layout: how, Fill: ByColumn(map[string]Fill{"a": FillWith(-1)})}, Put{Format: FormatColumns, Columns: []PutColumn{c, d}}, append(b, more...))
		if err != nil {
			t.Fatal(err)
		}
		l := openDir(t, dir)
		a, err := l.Manifest.Column("a")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.BeforeFill(a); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v: %v", how, got, want, err)
		}
		if filled := values[float32](l, "a"); filled[7*width] != -1 || filled[7*width+1] != v[7*width+1] {
			t.Errorf("%s: row 8 holds %v", how, filled[7*width:8*width])
		}
	}
}
