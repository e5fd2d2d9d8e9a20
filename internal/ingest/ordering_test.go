package ingest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/layout"
)

// TestOrderIsSeenWhileRowsAreRead holds what is seen of random rows, in ranges that are looked at whole, against a look at all of them: the
// same where they come one after the other, and never disorder where there is none.
func TestOrderIsSeenWhileRowsAreRead(t *testing.T) {
	answers := map[orderState]int{}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "rows")
		ids := rapid.IntRange(0, 2).Draw(r, "item columns")
		timed := ids == 0 || rapid.Bool().Draw(r, "timed")
		values := make([][]int64, ids+1)
		for i := range values {
			values[i] = rapid.SliceOfN(rapid.Int64Range(-2, 3), n, n).Draw(r, "values")
			if rapid.IntRange(0, 3).Draw(r, "ascending") > 0 {
				slices.Sort(values[i])
			}
		}
		k := &keys{}
		for _, v := range values[:ids] {
			k.at = append(k.at, func(row int64) int64 { return v[row] })
		}
		if timed {
			k.time = &layout.Strided[int64]{Data: values[ids], Rows: int64(n), Width: 1, Step: 1}
		}
		m := &rowMap{rows: int64(n)}
		_, sorted := numberRows(k, m, make([]int64, n), func(int64) {})

		plans := 0
		o := newOrdering(func() { plans++ })
		half := int64(rapid.IntRange(0, n-1).Draw(r, "second source"))
		apart := rapid.Bool().Draw(r, "column by column")
		inTurn := true
		for _, source := range [][2]int64{{0, half}, {half, int64(n)}} {
			begin, end := source[0], source[1]
			if begin == end {
				continue
			}
			o.begin(k, begin, end-begin)
			columns := o.need
			first := 0
			if columns == 2 && rapid.Bool().Draw(r, "one column whole") {
				o.note(begin, end-begin)
				first = 1
			}
			var ranges [][2]int64
			for at := begin; at < end; {
				to := min(end, at+int64(rapid.IntRange(1, 15).Draw(r, "range")))
				ranges = append(ranges, [2]int64{at, to - at})
				at = to
			}
			if len(ranges) == 1 { // whole too
				first = 0
				if o.need < columns {
					first = 1
				}
			}
			if rapid.IntRange(0, 2).Draw(r, "shuffled") == 0 {
				ranges = rapid.Permutation(ranges).Draw(r, "ranges")
				inTurn = inTurn && slices.IsSortedFunc(ranges, func(a, b [2]int64) int { return int(a[0] - b[0]) })
			}
			if apart {
				for range columns - first {
					for _, x := range ranges {
						o.note(x[0], x[1])
					}
				}
				continue
			}
			for _, x := range ranges {
				for range columns - first {
					o.note(x[0], x[1])
				}
			}
		}
		answers[o.state]++
		switch {
		case o.state == orderUnknown:
			r.Fatal("nothing was seen")
		case sorted && o.state > orderKept:
			r.Fatal("rows in order seem not to be")
		case !sorted && inTurn && o.state == orderKept:
			r.Fatal("rows out of order seem to be in order")
		case plans > 3:
			r.Fatalf("%d plans", plans)
		}
	})
	if answers[orderKept] == 0 || answers[orderMixed] == 0 || answers[orderBroken] == 0 {
		t.Errorf("seen: %v", answers)
	}
}

func TestOfSmallRangesNoMoreIsLookedAtThanOfLargeOnes(t *testing.T) {
	const rows = 4 * glanceEvery
	for _, n := range []int64{1000, 10_000, rows} {
		k := &keys{time: &layout.Strided[int64]{Data: make([]int64, rows), Rows: rows, Width: 1, Step: 1}}
		o := newOrdering(func() {})
		o.words, o.filter = func() map[string][]string { return nil }, &filter{verdict: true}
		o.begin(k, 0, rows)
		for at := int64(0); at < rows; at += n {
			o.note(at, min(n, rows-at))
		}
		if o.looked != 4*glanceRows || o.state != orderKept {
			t.Errorf("in ranges of %d: %d rows, state %d", n, o.looked, o.state)
		}
	}
}
