package layout

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMissingRowsComeBackAsTheyWereAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOf(rapid.SampledFrom([]int64{0, 0, 1, 1, 1, 2, 300})).Draw(t, "cells")
		var m MissingRows
		rows, sum := int64(0), int64(0)
		for row, n := range cells {
			m.Add(int64(row), n)
			if sum += n; n > 0 {
				rows++
			}
		}
		b := m.AppendBinary(nil)
		got, err := ParseMissingRows(b, int64(len(cells)), 300)
		if err != nil || !slices.Equal(got, m) {
			t.Fatalf("got %v (%v), want %v", got, err, m)
		}
		back := make([]int64, len(cells))
		for _, r := range got {
			for row := r.Row; row < r.Row+r.Rows; row++ {
				back[row] = r.Cells
			}
		}
		if !slices.Equal(back, cells) {
			t.Fatalf("got %v, want %v", back, cells)
		}
		if r, n := m.Count(); r != rows || n != sum {
			t.Fatalf("%d rows with %d cells, want %d with %d", r, n, rows, sum)
		}
		if len(m) > 0 { // fewer rows, fewer cells, or a byte less, are refused
			last := m[len(m)-1]
			most := slices.MaxFunc(m, func(a, b MissingRun) int { return int(a.Cells - b.Cells) }).Cells
			for _, bad := range []struct {
				b           []byte
				rows, cells int64
			}{{b, last.Row + last.Rows - 1, 300}, {b, int64(len(cells)), most - 1}, {b[:len(b)-1], int64(len(cells)), 300}} {
				if got, err := ParseMissingRows(bad.b, bad.rows, bad.cells); !errors.Is(err, ErrTorn) {
					t.Fatalf("got %v, %v, want ErrTorn", got, err)
				}
			}
		}
	})
}

func FuzzMissingRows(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 200, 1, 2}, int64(1000), int64(4))
	f.Fuzz(func(t *testing.T, b []byte, rows, cells int64) {
		m, err := ParseMissingRows(b, rows, cells)
		if err != nil || rows < 0 || cells < 1 {
			return
		}
		last := int64(0)
		for _, r := range m {
			if r.Row < last || r.Rows < 1 || r.Row+r.Rows > rows || r.Cells < 1 || r.Cells > cells {
				t.Fatalf("%v of %d rows of %d cells", m, rows, cells)
			}
			last = r.Row + r.Rows
		}
	})
}
