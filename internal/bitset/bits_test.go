package bitset

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestBitsAreThoseOfTheRowsThatWereSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.Int64Range(0, 200).Draw(t, "rows")
		bits, want := New(rows), make([]byte, rows)
		for range rapid.IntRange(0, 8).Draw(t, "ranges") {
			from := rapid.Int64Range(0, rows).Draw(t, "from")
			to := rapid.Int64Range(from, rows).Draw(t, "to")
			bits.Set(from, to)
			for row := from; row < to; row++ {
				want[row] = 1
			}
		}
		for row := range rows {
			if got := bits.At(row); got != want[row] {
				t.Fatalf("row %d has %d", row, got)
			}
		}
		if n := int64(len(bits)); n != (rows+7)/8+8 || bits.At(8*n-1) != 0 {
			t.Fatalf("%d bytes for %d rows", n, rows)
		}
	})
}
