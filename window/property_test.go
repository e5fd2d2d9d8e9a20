package window_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

func TestIndexAgreesWithTheDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		spec := drawSpec(t, tab)
		cuts := drawCuts(t, tab)
		want := (&oracle{spec, tab}).index(cuts)
		x, err := window.Apply(spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		checkIndex(t, x, want)
	})
}

// Few cases of TestIndexAgreesWithTheDefinitions have windows that a split rejects. Here most do.
func TestPartsAgreeWithTheDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTableOf(t, between(1, 3), between(14, 34))
		spec := drawSpec(t, tab)
		spec.Rows, spec.Time, spec.MaxStep, spec.MaxMissing.Any = nil, nil, nil, true
		spec.ContextLength, spec.PredictionLength = between(1, 4).Draw(t, "context"),
			between(1, 4).Draw(t, "prediction")
		spec.MinContext, spec.Overlap = nil, 0
		var cuts []window.Cut
		for range between(1, 2).Draw(t, "cuts") {
			s := drawSplit(t, tab)
			s.ContextBeforeSplit = ptr(rapid.Bool().Draw(t, "context_before_split"))
			n, err := s.Parts()
			if err != nil {
				t.Fatal(err)
			}
			cuts = append(cuts,
				window.Cut{Split: &s, Part: int(between(0, int64(n)-1).Draw(t, "part"))})
		}
		x, err := window.Apply(spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		checkIndex(t, x, (&oracle{spec, tab}).index(cuts))
	})
}

func checkIndex(t *rapid.T, x *window.Index, want found) {
	if !maps.Equal(x.Rejected(), want.rejected) {
		t.Fatalf("rejected %v, want %v", x.Rejected(), want.rejected)
	}
	if x.Len() != int64(len(want.places)) {
		t.Fatalf("%d windows, want %d: %v, want %v", x.Len(), len(want.places),
			x.Runs(), want.places)
	}
	sum := x.Len()
	for _, n := range x.Rejected() {
		sum += n
	}
	if sum != x.Positions() {
		t.Fatalf("%d positions, want %d", x.Positions(), sum)
	}
	for n, p := range want.places {
		if got := x.Place(int64(n)); got != p {
			t.Fatalf("window %d at %v, want %v", n, got, p)
		}
		if got, ok := x.Number(p); !ok || got != int64(n) {
			t.Fatalf("%v is window %d %t, want %d", p, got, ok, n)
		}
		if got := x.Pad(p); got != want.pads[n] {
			t.Fatalf("%v has %d padded rows, want %d", p, got, want.pads[n])
		}
	}
	for item := range x.Items() {
		first, count := x.OfItem(item)
		for s := int64(-40); s < 40; s++ {
			p := window.Place{Item: item, Start: s}
			n, ok := x.Number(p)
			if ok != slices.Contains(want.places, p) || ok && (n < first || n >= first+count) {
				t.Fatalf("%v is window %d %t; the item has %d from %d", p, n, ok, count, first)
			}
		}
	}
	for why, n := range x.Rejected() {
		if n <= 0 {
			t.Fatalf("%d rejected by %s", n, why)
		}
	}
	if (x.Explain() == nil) != (x.Len() > 0) {
		t.Fatalf("%d windows: %v", x.Len(), x.Explain())
	}
}

func TestSpecAndCutsAreTheSameAfterJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		x, err := window.Apply(drawSpec(t, tab), tab, drawCuts(t, tab))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(x.Spec())
		if err != nil {
			t.Fatal(err)
		}
		spec, err := window.ParseSpec(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		cutData, err := json.Marshal(x.Cuts())
		if err != nil {
			t.Fatal(err)
		}
		cuts, err := parseCuts(cutData)
		if err != nil {
			t.Fatalf("%s: %v", cutData, err)
		}
		y, err := window.Apply(spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(y.Cuts())
		if x.Hash() != y.Hash() || string(again) != string(cutData) {
			t.Fatalf("%s %s: read back as %s", data, cutData, again)
		}
		if fmt.Sprint(x.Runs(), x.Rejected()) != fmt.Sprint(y.Runs(), y.Rejected()) {
			t.Fatalf("%s %s: another index", data, cutData)
		}
	})
}

func TestPartsShareNoPredictionRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		spec := drawSpec(t, tab)
		x, err := window.New(spec, tab)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := x.Split(drawSplit(t, tab))
		if err != nil {
			t.Fatal(err)
		}
		owner := map[window.Place]int{}
		for i, part := range parts {
			for n := range part.Len() {
				p := part.Place(n)
				if _, ok := x.Number(p); !ok {
					t.Fatalf("part %d has %v, the whole has not", i, p)
				}
				first, last := spec.ContextLength+spec.Gap, spec.ContextLength+spec.Gap+
					spec.PredictionLength
				if spec.PredictionLength == 0 {
					first, last = spec.ContextLength-1, spec.ContextLength
				}
				for s := first; s < last; s++ {
					row := window.Place{Item: p.Item, Start: p.Start + s*or1(spec.Dilation)}
					if o, ok := owner[row]; ok && o != i {
						t.Fatalf("row %v is predicted in parts %d and %d", row, o, i)
					}
					owner[row] = i
				}
			}
		}
	})
}
