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

func ptr[T any](v T) *T { return &v }

func drawTable(t *rapid.T) window.Table {
	tab := window.Table{Offsets: []int64{0}}
	for range rapid.IntRange(0, 4).Draw(t, "items") {
		n := rapid.Int64Range(0, 30).Draw(t, "rows")
		tab.Offsets = append(tab.Offsets, tab.Offsets[len(tab.Offsets)-1]+n)
	}
	rows := tab.Offsets[len(tab.Offsets)-1]
	if rapid.Bool().Draw(t, "timed") {
		tab.Unit = rapid.SampledFrom([]string{"", "s"}).Draw(t, "unit")
		tab.Times = make([]int64, 0, rows)
		for i := range tab.Offsets[1:] {
			at := rapid.Int64Range(-20, 20).Draw(t, "begins")
			for range tab.Offsets[i+1] - tab.Offsets[i] {
				tab.Times = append(tab.Times, at)
				at += rapid.SampledFrom([]int64{1, 1, 1, 1, 1, 1, 2, 3, 6}).Draw(t, "step")
			}
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "columns") {
		c := window.Column{Cells: rapid.Int64Range(1, 3).Draw(t, "cells")}
		c.Context = rapid.Bool().Draw(t, "context")
		c.Target = rapid.Bool().Draw(t, "target")
		every := rapid.IntRange(1, 12).Draw(t, "every")
		for row := range rows {
			if rapid.IntRange(0, every).Draw(t, "missing") == 1 {
				c.Missing = append(c.Missing, window.MissingRow{Row: row, Cells: rapid.Int64Range(1, c.Cells).Draw(t, "cells")})
			}
		}
		tab.Columns = append(tab.Columns, c)
	}
	tab.ItemHash = func(item int64) uint64 { return uint64(item+1) * 0x9e3779b97f4a7c15 }
	return tab
}

func drawSpec(t *rapid.T, tab window.Table) window.Spec {
	s := window.Spec{
		ContextLength:    rapid.Int64Range(1, 7).Draw(t, "context_length"),
		PredictionLength: rapid.Int64Range(0, 4).Draw(t, "prediction_length"),
		Stride:           rapid.Int64Range(0, 5).Draw(t, "stride"),
		Dilation:         rapid.SampledFrom([]int64{0, 1, 1, 2, 3}).Draw(t, "dilation"),
		Anchor:           rapid.SampledFrom([]string{"", "start", "end"}).Draw(t, "anchor"),
	}
	if s.PredictionLength > 0 {
		s.Gap = rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(t, "gap")
		s.Overlap = rapid.Int64Range(0, s.ContextLength+s.Gap).Draw(t, "overlap")
	}
	if rapid.Bool().Draw(t, "pads") {
		s.MinContext = ptr(rapid.Int64Range(0, s.ContextLength).Draw(t, "min_context"))
	}
	switch rapid.IntRange(0, 3).Draw(t, "bounded") {
	case 0:
		s.Rows = drawBounds(t)
	case 1:
		if tab.Times != nil {
			s.Time = drawTimes(t, tab.Unit)
		}
	}
	if tab.Times != nil && rapid.Bool().Draw(t, "stepped") {
		n := rapid.SampledFrom([]int64{1, 2, 5}).Draw(t, "max_step")
		s.MaxStep = window.Ticks(n)
		if tab.Unit == "s" && rapid.Bool().Draw(t, "duration") {
			s.MaxStep = window.Nanoseconds(n * 1e9)
		}
	}
	switch rapid.IntRange(0, 3).Draw(t, "missing") {
	case 0:
		s.MaxMissing.Any = true
	case 1, 2:
		s.MaxMissing.Share = rapid.SampledFrom([]float64{0.05, 0.1, 0.2, 0.25, 1.0 / 3, 0.5, 1}).Draw(t, "max_missing")
	}
	return s
}

func drawBounds(t *rapid.T) *window.Bounds {
	row := rapid.Custom(func(t *rapid.T) *int64 {
		if rapid.IntRange(0, 3).Draw(t, "open") == 0 {
			return nil
		}
		return ptr(rapid.Int64Range(-25, 35).Draw(t, "row"))
	})
	b := &window.Bounds{From: row.Draw(t, "from"), To: row.Draw(t, "to")}
	if b.From != nil && b.To != nil && (*b.From < 0) == (*b.To < 0) {
		if *b.From > *b.To {
			b.From, b.To = b.To, b.From
		}
		if *b.From == *b.To {
			b.To = nil
		}
	}
	return b
}

func drawTime(t *rapid.T, unit string, tick int64) window.TimeValue {
	if unit == "s" && rapid.Bool().Draw(t, "instant") {
		at := instantOf(tick, unit)
		if rapid.Bool().Draw(t, "between") {
			at = at.Add(500)
		}
		return window.At(at)
	}
	return window.Tick(tick)
}

func drawTimes(t *rapid.T, unit string) *window.TimeBounds {
	from := rapid.Int64Range(-25, 40).Draw(t, "from")
	to := from + rapid.Int64Range(1, 60).Draw(t, "length")
	b := &window.TimeBounds{}
	if rapid.IntRange(0, 3).Draw(t, "open") > 0 {
		b.From = ptr(drawTime(t, unit, from))
	}
	if rapid.IntRange(0, 3).Draw(t, "open") > 0 {
		b.To = ptr(drawTime(t, unit, to))
	}
	return b
}

func drawCuts(t *rapid.T, tab window.Table) []window.Cut {
	var cuts []window.Cut
	for range rapid.IntRange(0, 3).Draw(t, "cuts") {
		var before *bool
		if rapid.Bool().Draw(t, "says") {
			before = ptr(rapid.Bool().Draw(t, "context_before_split"))
		}
		if rapid.Bool().Draw(t, "where") {
			w := drawWhere(t, tab)
			w.ContextBeforeSplit = before
			cuts = append(cuts, window.Cut{Where: &w})
			continue
		}
		s := drawSplit(t, tab)
		s.ContextBeforeSplit = before
		n, err := s.Parts()
		if err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, window.Cut{Split: &s, Part: rapid.IntRange(0, n-1).Draw(t, "part")})
	}
	if rapid.IntRange(0, 4).Draw(t, "latest") == 0 {
		cuts = append(cuts, window.Cut{Latest: true})
	}
	return cuts
}

func drawWhere(t *rapid.T, tab window.Table) (w window.Where) {
	if rapid.Bool().Draw(t, "rows") {
		w.Rows = drawBounds(t)
	}
	if tab.Times != nil && rapid.Bool().Draw(t, "time") {
		w.Time = drawTimes(t, tab.Unit)
	}
	if w.Rows == nil && w.Time == nil || rapid.Bool().Draw(t, "items") {
		w.Items = []int64{}
		for i := range tab.Items() {
			if rapid.IntRange(0, 3).Draw(t, "item") > 0 {
				w.Items = append(w.Items, i)
			}
		}
	}
	return w
}

func drawFractions(t *rapid.T) []*float64 {
	list := rapid.SampledFrom([][]*float64{
		{ptr(0.7), ptr(0.1), ptr(0.2)}, {ptr(0.8), ptr(0.2)}, {ptr(0.5), nil, ptr(0.3)}, {nil, ptr(0.25)}, {ptr(0.1), ptr(0.3)}, {ptr(0.0), ptr(1.0)}, {ptr(1.0)}, {nil},
	}).Draw(t, "fractions")
	return list
}

func drawSplit(t *rapid.T, tab window.Table) (s window.Split) {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if kind == 2 && tab.Times == nil {
		kind = 0
	}
	if kind < 3 {
		s.Purge = rapid.SampledFrom([]int64{0, 0, 1, 4}).Draw(t, "purge")
	}
	switch kind {
	case 0:
		rest := rapid.IntRange(-1, 3).Draw(t, "rest")
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			l := ptr(rapid.Int64Range(0, 14).Draw(t, "length"))
			if i == rest {
				l = nil
			}
			s.Lengths = append(s.Lengths, l)
		}
	case 1:
		s.Fractions = drawFractions(t)
	case 2:
		at := rapid.Int64Range(-20, 20).Draw(t, "at")
		for range rapid.IntRange(1, 3).Draw(t, "bounds") {
			s.AtTimes = append(s.AtTimes, drawTime(t, tab.Unit, at))
			at += rapid.Int64Range(1, 20).Draw(t, "length")
		}
	case 3:
		s.Items = &window.ItemParts{Fractions: drawFractions(t)}
	case 4:
		s.Items = &window.ItemParts{Lists: make([][]int64, rapid.IntRange(1, 3).Draw(t, "parts"))}
		for i := range tab.Items() {
			p := rapid.IntRange(0, len(s.Items.Lists)).Draw(t, "part")
			if p < len(s.Items.Lists) {
				s.Items.Lists[p] = append(s.Items.Lists[p], i)
			}
		}
	}
	return s
}

func TestIndexIsWhatTheDefinitionsSay(t *testing.T) {
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

func checkIndex(t *rapid.T, x *window.Index, want found) {
	if !maps.Equal(x.Rejected(), want.rejected) {
		t.Fatalf("rejected %v, want %v", x.Rejected(), want.rejected)
	}
	if x.Len() != int64(len(want.places)) {
		t.Fatalf("%d windows, want %d: %v, want %v", x.Len(), len(want.places), x.Runs(), want.places)
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

func TestJSONKeepsSpecAndCuts(t *testing.T) {
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
		cuts, err := window.ParseCuts(cutData)
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
				first, last := spec.ContextLength+spec.Gap, spec.ContextLength+spec.Gap+spec.PredictionLength
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
