package window_test

import (
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/window"
)

func TestCountsOfETTh1AddUp(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 336, PredictionLength: 96}, items(17420))
	if x.Len() != 16989 || x.Positions() != 17420 ||
		!maps.Equal(x.Rejected(), map[window.Reason]int64{window.ReasonItemEnd: 431}) {
		t.Errorf("%d windows of %d positions, rejected %v", x.Len(), x.Positions(), x.Rejected())
	}
	for i, part := range mustSplit(t, x, window.Split{Lengths: lengths(8640, 2880, 2880)}) {
		if want := []int64{8209, 2785, 2785}[i]; part.Len() != want ||
			part.Rejected()[window.ReasonSplit] != 95 {
			t.Errorf("part %d: %d windows, rejected %v", i, part.Len(), part.Rejected())
		}
	}
}

func TestCountsWithoutOptionsFollowTheFormula(t *testing.T) {
	for n := range int64(40) {
		for stride := int64(1); stride < 6; stride++ {
			x := mustNew(t, window.Spec{ContextLength: 5, Gap: 1, PredictionLength: 2,
				Stride: stride}, items(n))
			want := int64(0)
			if n >= 8 {
				want = (n-8)/stride + 1
			}
			if x.Len() != want || x.Positions() != (n+stride-1)/stride {
				t.Errorf("%d rows, stride %d: %d windows of %d positions, want %d", n, stride,
					x.Len(), x.Positions(), want)
			}
		}
	}
}

func TestABillionWindowsAreOneRun(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 336, PredictionLength: 96}, items(1e9))
	if len(x.Runs()) != 1 || x.Len() != 1e9-431 || x.Place(x.Len()-1).Start != 1e9-432 {
		t.Errorf("%d windows in runs %v", x.Len(), x.Runs())
	}
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := window.New(x.Spec(), items(1e9)); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 20 {
		t.Errorf("%v allocations to index a billion windows", allocs)
	}
}

// Of the quadrillion positions of TestAContextLongerThanTheItemTakesTimeOfItsRows, the item's end
// rejects all but a few.
func TestAContextLongerThanTheItemTakesTimeOfItsRows(t *testing.T) {
	for _, anchor := range []string{window.AnchorStart, window.AnchorEnd} {
		for _, dilation := range []int64{1, 2, 3} {
			tab := items(8, 8)
			tab.Columns = []window.Column{{Context: true, Target: true, Cells: 1,
				Missing: []window.MissingRow{{Row: 3, Cells: 1}}}}
			x := mustNew(t, window.Spec{ContextLength: 1 << 50, Dilation: dilation,
				MinContext: ptr(int64(1)), Anchor: anchor}, tab)
			missing := (7-3)/dilation + 1 // windows whose last row is 3, 3 + dilation, …
			if x.Len() != 16-missing || x.Rejected()[window.ReasonMaxMissing] != missing {
				t.Errorf("dilation %d: %d windows, rejected %v", dilation, x.Len(), x.Rejected())
			}
		}
	}
}

func TestPlaceAllocatesNothing(t *testing.T) {
	tab := items(30, 50, 10, 100)
	tab.Columns = []window.Column{{Context: true, Target: true, Cells: 1,
		Missing: []window.MissingRow{{Row: 20, Cells: 1}, {Row: 130, Cells: 1}}}}
	x := mustNew(t, window.Spec{ContextLength: 4, PredictionLength: 2, MinContext: ptr(int64(1))},
		tab)
	n := int64(0)
	if allocs := testing.AllocsPerRun(1000, func() {
		p := x.Place(n % x.Len())
		if _, ok := x.Number(p); !ok {
			t.Fatal(p)
		}
		x.Pad(p)
		n += 7
	}); allocs > 0 {
		t.Errorf("%v allocations a place", allocs)
	}
}

func TestNoWindowStartsOutsideOfItems(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 4, PredictionLength: 2, MinContext: ptr(int64(1))},
		items(30, 50))
	for _, start := range []int64{math.MinInt64, -4, 47, math.MaxInt64 - 1, math.MaxInt64} {
		if n, ok := x.Number(window.Place{Item: 1, Start: start}); ok {
			t.Errorf("start %d is window %d", start, n)
		}
	}
}

func TestPlaceNearReturnsThePlaceWhateverTheRun(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 4, PredictionLength: 2}, items(30, 6, 5, 100, 6, 6))
	for _, step := range []int64{1, 7, x.Len() - 1, x.Len() - 26} {
		run, n := 0, int64(0)
		for range 3 * x.Len() {
			if got, want := x.PlaceNear(n, &run), x.Place(n); got != want {
				t.Fatalf("window %d by steps of %d: %+v, want %+v", n, step, got, want)
			}
			n = (n + step) % x.Len()
		}
	}
}

func TestPlacePanicsOutOfRange(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 4}, items(10))
	for _, n := range []int64{-1, x.Len()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("window %d has a place", n)
				}
			}()
			x.Place(n)
		}()
	}
}

func TestExplainSaysWhatToChange(t *testing.T) {
	spec := window.Spec{ContextLength: 336, PredictionLength: 96}
	timed := items(100)
	for i := range int64(100) {
		timed.Times = append(timed.Times, i*10)
	}
	missing := items(600)
	missing.Columns = []window.Column{{Context: true, Cells: 1}}
	for row := int64(0); row < 600; row += 100 {
		missing.Columns[0].Missing = append(missing.Columns[0].Missing,
			window.MissingRow{Row: row, Cells: 1})
	}
	short := window.Spec{ContextLength: 4, MaxStep: window.Ticks(5)}
	bounded := window.Spec{ContextLength: 10, PredictionLength: 5, Rows: window.Rows(0, 12)}
	for _, c := range []struct {
		spec window.Spec
		tab  window.Table
		says []string
	}{
		{spec, items(100, 50), []string{"150 positions", "item_end rejects 150",
			"context_length 336 + prediction_length 96 needs 432 rows; the longest item has 100"}},
		{spec, items(), []string{"has no items; load rows first"}},
		{spec, items(0), []string{"needs 432 rows; the longest item has 0"}},
		{spec, missing, []string{"max_missing", "max_missing rejects 169", "item_end rejects 431"}},
		{short, timed, []string{"max_step rejects 97", "raise max_step"}},
		{bounded, items(100), []string{"bounds rejects 100", "widen rows"}},
	} {
		x := mustNew(t, c.spec, c.tab)
		err := x.Explain()
		if !errors.Is(err, window.ErrNoWindows) {
			t.Errorf("%+v: %v", c.spec, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%q does not say %q", err, says)
			}
		}
	}
	x := mustNew(t, window.Spec{ContextLength: 4, PredictionLength: 4}, items(100))
	for i, part := range mustSplit(t, x, window.Split{Lengths: lengths(90, 2)}) {
		if err := part.Explain(); (err != nil) != (i == 1) {
			t.Errorf("part %d: %v", i, err)
		} else if err != nil && !strings.Contains(err.Error(), "make the part longer") {
			t.Errorf("%q does not say what to change", err)
		}
	}
}

// A bound between two values of the unit means the later one.
func TestTimeBoundsInEveryUnit(t *testing.T) {
	day := int64(86400)
	at := func(s string) *window.TimeValue {
		v, err := window.ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for _, c := range []struct {
		unit   string
		tick   int64 // in one day
		times  []int64
		from   string
		to     string
		lo, hi int64
	}{
		{"s", day, []int64{-1, 0, 1, day, day + 1}, "1970-01-01", "1970-01-02", 1, 3},
		{"s", day, []int64{-1, 0, 1, 2}, "1970-01-01T00:00:00.5",
			"1970-01-01T00:00:01.000000001", 2, 3},
		{"ms", day * 1000, []int64{-1, 0, 1, 2}, "1969-12-31T23:59:59.9991",
			"1970-01-01T00:00:00.002", 1, 3},
		{"us", day * 1e6, []int64{-2, -1, 0}, "1969-12-31T23:59:59.999999", "2500-01-01", 1, 3},
		{"ns", day * 1e9, []int64{-2, -1, 0}, "1969-12-31T23:59:59.999999999", "2500-01-01", 1, 3},
		{"ns", day * 1e9, []int64{-2, -1, 0}, "0001-01-01", "1500-01-01", 0, 0},
		{"day", 1, []int64{-1, 0, 1, 2}, "1969-12-31T00:00:00.1", "1970-01-02T12:00:00", 1, 3},
	} {
		tab := window.Table{Offsets: []int64{0, int64(len(c.times))}, Times: c.times, Unit: c.unit}
		x := mustNew(t,
			window.Spec{ContextLength: 1, Time: &window.TimeBounds{From: at(c.from), To: at(c.to)}},
			tab)
		if lo, hi := x.Range(0); lo != c.lo || hi != c.hi {
			t.Errorf("%s from %s to %s: rows %d to %d, want %d to %d", c.unit, c.from, c.to, lo,
				hi, c.lo, c.hi)
		}
	}
	if v := window.At(
		time.Date(2016, 7, 1, 0, 0, 0, 0,
			time.FixedZone("", 7200))); v.String() != "2016-07-01T00:00:00+02:00" {
		t.Errorf("written as %s", v)
	}
}

func TestStepIsRoundedDownToTheUnit(t *testing.T) {
	for _, c := range []struct {
		unit, step string
		want       int64 // windows of two rows a day apart and two rows two days apart
	}{
		{"day", "1h", 0}, {"day", "1d", 1}, {"day", "47h", 1}, {"day", "2d", 2}, {"day", "1w", 2},
	} {
		step, err := window.ParseStep(c.step)
		if err != nil {
			t.Fatal(err)
		}
		tab := window.Table{Offsets: []int64{0, 3}, Times: []int64{0, 1, 3}, Unit: c.unit}
		if x := mustNew(t, window.Spec{ContextLength: 2, MaxStep: &step}, tab); x.Len() != c.want {
			t.Errorf("max_step %s: %d windows, want %d", c.step, x.Len(), c.want)
		}
	}
	// Differences beyond int64 are jumps, not overflows.
	tab := window.Table{Offsets: []int64{0, 2}, Times: []int64{-1 << 62, 1<<62 + 5}}
	if x := mustNew(t, window.Spec{ContextLength: 2, MaxStep: window.Ticks(1<<63 - 1)},
		tab); x.Len() != 0 {
		t.Errorf("%d windows over the widest jump", x.Len())
	}
}
