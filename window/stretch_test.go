package window_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

// whys returns the positions of an item and their reasons, found one by one.
func (o *oracle) whys(item int64, cuts []window.Cut) (starts []int64, reasons []window.Reason) {
	part := o.part(item, cuts)
	if part.gone {
		return nil, nil
	}
	n := o.rows(item)
	far := o.lastRow(0) + or1(o.spec.Dilation) + n + or1(o.spec.Stride)
	for s := -far; s <= far; s++ {
		row := o.partRow(s)
		if o.isPosition(item, s) &&
			(!part.cutRows || row >= 0 && row < n && part.in[row]) {
			starts, reasons = append(starts, s), append(reasons, o.why(item, s, &part))
		}
	}
	return starts, reasons
}

func TestStretchesHaveEachPositionOnceWithItsReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		spec := drawSpec(t, tab)
		cuts := drawCuts(t, tab)
		x, err := window.Apply(spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		counted, windows := map[window.Reason]int64{}, int64(0)
		for item := range x.Items() {
			var starts []int64
			var reasons []window.Reason
			last := window.Stretch{Reason: "none"}
			for s := range x.Stretches(item) {
				if s.Count < 1 || s.Reason == last.Reason {
					t.Fatalf("item %d: %+v after %+v", item, s, last)
				}
				for k := range s.Count {
					starts, reasons = append(starts, s.First+k*or1(spec.Stride)),
						append(reasons, s.Reason)
				}
				if counted[s.Reason] += s.Count; s.Reason == "" {
					windows += s.Count
				}
				last = s
			}
			if !x.IsLatest() {
				want, why := (&oracle{spec, tab}).whys(item, cuts)
				if !slices.Equal(starts, want) || !slices.Equal(reasons, why) {
					t.Fatalf("item %d: starts %v %v, want %v %v", item, starts, reasons, want, why)
				}
			}
		}
		if delete(counted, ""); windows != x.Len() || !maps.Equal(counted, x.Rejected()) {
			t.Fatalf("%d windows, rejected %v, want %d and %v", windows, counted, x.Len(),
				x.Rejected())
		}
	})
}

func TestHoldingReturnsTheLastWindowThatContainsTheRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		spec := drawSpec(t, tab)
		cuts := drawCuts(t, tab)
		x, err := window.Apply(spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		o := &oracle{spec, tab}
		if x.IsLatest() {
			o.spec.Gap, o.spec.PredictionLength = 0, 0
		}
		for item := range x.Items() {
			for row := int64(-2); row < o.rows(item)+2; row++ {
				want, held := int64(0), false
				for n := range x.Len() {
					if at := x.Place(n); at.Item == item && at.Start <= row &&
						row <= o.lastRow(at.Start) {
						want, held = n, true
					}
				}
				if got, ok := x.Holding(item, row); ok != held || ok && got != want {
					t.Fatalf("row %d of item %d is held by window %d %t, want %d %t", row, item,
						got, ok, want, held)
				}
			}
		}
	})
}

func TestStretchesStopWhenTheCallerStops(t *testing.T) {
	tab := window.Table{Offsets: []int64{0, 9},
		Columns: []window.Column{{Context: true, Target: true, Cells: 1,
			Missing: []window.MissingRow{{Row: 4, Cells: 1}}}}}
	x, err := window.New(window.Spec{ContextLength: 2, PredictionLength: 1}, tab)
	if err != nil {
		t.Fatal(err)
	}
	for stop := range 5 {
		var seen []window.Stretch
		for s := range x.Stretches(0) {
			if seen = append(seen, s); len(seen) > stop {
				break
			}
		}
		want := []window.Stretch{{First: 0, Count: 2},
			{First: 2, Count: 3, Reason: window.ReasonMaxMissing}, {First: 5, Count: 2},
			{First: 7, Count: 2, Reason: window.ReasonItemEnd}}
		if !slices.Equal(seen, want[:min(stop+1, len(want))]) {
			t.Fatalf("%v", seen)
		}
	}
}
