package layout

import (
	"math"
	"path/filepath"
	"testing"
)

// TestFormat1IsStillRead reads generations of format 1. testdata/format1/README.md describes their
// arrays.
func TestFormat1IsStillRead(t *testing.T) {
	for _, layout := range []string{Columns, Packed} {
		d := open(t, filepath.Join("..", "testdata", "format1", layout))
		if d.Manifest.Format != 1 || d.Manifest.Layout != layout || d.Manifest.Rows != 12 {
			t.Fatalf("format %d, layout %s, %d rows", d.Manifest.Format, d.Manifest.Layout,
				d.Manifest.Rows)
		}
		if err := d.Verify(); err != nil {
			t.Fatal(err)
		}
		checkColumn[float32](t, d, "f4", func(row, _ int) float32 { return float32(row) / 8 })
		checkColumn[int32](t, d, "i4", func(row, _ int) int32 { return -7 * int32(row) })
		checkColumn[int64](t, d, "i8", func(row, _ int) int64 { return int64(row) * 1e12 })
		checkColumn[uint8](t, d, "b", func(row, _ int) uint8 { return []uint8{1, 0, 0}[row%3] })
		checkColumn[float32](t, d, "many", func(row, j int) float32 { return float32(3*row+j) / 4 })
		checkColumn[int64](t, d, "t", func(row, _ int) int64 {
			return 1577836800 + 60*int64(row%4)
		})
		checkColumn[int32](t, d, "id", func(row, _ int) int32 { return int32(row / 4) })
		checkColumn[uint64](t, d, "f8", func(row, _ int) uint64 {
			if row == 5 {
				return 0x7ff8000000000000
			}
			return math.Float64bits(float64(row) / 3)
		})
		if v, err := d.Item(1); err != nil || v[0] != "süd" {
			t.Errorf("item 1 is %v, %v", v, err)
		}
	}
}

// checkColumn compares all values of a column with want.
func checkColumn[T Number](t *testing.T, d *Data, name string, want func(row, feature int) T) {
	t.Helper()
	c, err := d.Manifest.Column(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := View[T](d, c)
	if err != nil {
		t.Fatal(err)
	}
	for row := range v.Rows {
		for j, got := range v.Row(row) {
			if want := want(int(row), j); got != want {
				t.Fatalf("column %q, row %d, feature %d: got %v, want %v", name, row, j, got, want)
			}
		}
	}
}
