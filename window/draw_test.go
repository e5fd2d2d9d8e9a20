package window_test

import (
	"encoding/json"

	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

// parseCuts reads a JSON list of cuts.
func parseCuts(data []byte) (cuts []window.Cut, err error) {
	err = json.Unmarshal(data, &cuts)
	return cuts, err
}

func ptr[T any](v T) *T { return &v }

// between draws a number with about equal probabilities. The ranges of rapid prefer small numbers,
// and small tables have no windows. It still shrinks to lo.
func between(lo, hi int64) *rapid.Generator[int64] {
	return rapid.Map(rapid.Uint64(), func(u uint64) int64 {
		u *= 0x9e3779b97f4a7c15
		return lo + int64((u^u>>32)%uint64(hi-lo+1))
	})
}

func drawTable(t *rapid.T) window.Table { return drawTableOf(t, between(0, 4), between(0, 34)) }

func drawTableOf(t *rapid.T, items, rows *rapid.Generator[int64]) window.Table {
	tab := window.Table{Offsets: []int64{0}}
	for range items.Draw(t, "items") {
		n := rows.Draw(t, "rows")
		tab.Offsets = append(tab.Offsets, tab.Offsets[len(tab.Offsets)-1]+n)
	}
	all := tab.Offsets[len(tab.Offsets)-1]
	if rapid.Bool().Draw(t, "timed") {
		tab.Unit = rapid.SampledFrom([]string{"", "s"}).Draw(t, "unit")
		tab.Times = make([]int64, 0, all)
		for i := range tab.Offsets[1:] {
			at := between(-20, 20).Draw(t, "begins")
			for range tab.Offsets[i+1] - tab.Offsets[i] {
				tab.Times = append(tab.Times, at)
				at += rapid.SampledFrom([]int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6}).
					Draw(t, "step")
			}
		}
	}
	for range between(0, 3).Draw(t, "columns") {
		c := window.Column{Cells: between(1, 3).Draw(t, "cells")}
		c.Context = rapid.Bool().Draw(t, "context")
		c.Target = rapid.Bool().Draw(t, "target")
		every := between(1, 60).Draw(t, "every")
		for row := range all {
			if between(0, every).Draw(t, "missing") == 0 {
				c.Missing = append(c.Missing,
					window.MissingRow{Row: row, Cells: between(1, c.Cells).Draw(t, "cells")})
			}
		}
		tab.Columns = append(tab.Columns, c)
	}
	tab.ItemHash = func(item int64) uint64 { return uint64(item+1) * 0x9e3779b97f4a7c15 }
	return tab
}

func drawSpec(t *rapid.T, tab window.Table) window.Spec {
	s := window.Spec{
		ContextLength:    between(1, 7).Draw(t, "context_length"),
		PredictionLength: between(0, 4).Draw(t, "prediction_length"),
		Stride:           between(0, 5).Draw(t, "stride"),
		Dilation:         rapid.SampledFrom([]int64{0, 1, 1, 2, 3}).Draw(t, "dilation"),
		Anchor:           rapid.SampledFrom([]string{"", "start", "end"}).Draw(t, "anchor"),
	}
	if s.PredictionLength > 0 {
		s.Gap = rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(t, "gap")
		s.Overlap = between(0, s.ContextLength+s.Gap).Draw(t, "overlap")
	}
	if rapid.Bool().Draw(t, "pads") {
		s.MinContext = ptr(between(0, s.ContextLength).Draw(t, "min_context"))
	}
	switch between(0, 3).Draw(t, "bounded") {
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
	switch between(0, 3).Draw(t, "missing") {
	case 0:
		s.MaxMissing.Any = true
	case 1, 2:
		s.MaxMissing.Share = rapid.SampledFrom([]float64{0.05, 0.1, 0.2, 0.25, 1.0 / 3, 0.5, 1}).
			Draw(t, "max_missing")
	}
	return s
}

func drawBounds(t *rapid.T) *window.Bounds {
	row := rapid.Custom(func(t *rapid.T) *int64 {
		if between(0, 3).Draw(t, "open") == 0 {
			return nil
		}
		return ptr(between(-35, 35).Draw(t, "row"))
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
	from := between(-25, 40).Draw(t, "from")
	to := from + between(1, 60).Draw(t, "length")
	b := &window.TimeBounds{}
	if between(0, 3).Draw(t, "open") > 0 {
		b.From = ptr(drawTime(t, unit, from))
	}
	if between(0, 3).Draw(t, "open") > 0 {
		b.To = ptr(drawTime(t, unit, to))
	}
	return b
}

func drawCuts(t *rapid.T, tab window.Table) []window.Cut {
	var cuts []window.Cut
	for range max(0, between(-1, 3).Draw(t, "cuts")) {
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
	if between(0, 5).Draw(t, "latest") == 0 {
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
			if between(0, 4).Draw(t, "item") > 0 {
				w.Items = append(w.Items, i)
			}
		}
	}
	return w
}

func drawFractions(t *rapid.T) []*float64 {
	list := rapid.SampledFrom([][]*float64{
		{ptr(0.7), ptr(0.1), ptr(0.2)}, {ptr(0.8), ptr(0.2)}, {ptr(0.5), nil, ptr(0.3)},
		{nil, ptr(0.25)}, {ptr(0.1), ptr(0.3)}, {ptr(0.001), ptr(0.999)},
		{ptr(1.0 / 3), ptr(1.0 / 3), ptr(1.0 / 3)},
	}).Draw(t, "fractions")
	return list
}

func drawSplit(t *rapid.T, tab window.Table) (s window.Split) {
	kind := between(0, 4).Draw(t, "kind")
	if kind == 2 && tab.Times == nil {
		kind = 0
	}
	if kind < 3 {
		s.Purge = rapid.SampledFrom([]int64{0, 0, 1, 4}).Draw(t, "purge")
	}
	switch kind {
	case 0:
		rest := between(-1, 3).Draw(t, "rest")
		for i := range between(2, 4).Draw(t, "parts") {
			l := ptr(between(1, 14).Draw(t, "length"))
			if i == rest {
				l = nil
			}
			s.Lengths = append(s.Lengths, l)
		}
	case 1:
		s.Fractions = drawFractions(t)
	case 2:
		at := between(-20, 20).Draw(t, "at")
		for range between(1, 3).Draw(t, "bounds") {
			s.AtTimes = append(s.AtTimes, drawTime(t, tab.Unit, at))
			at += between(1, 20).Draw(t, "length")
		}
	case 3:
		s.Items = &window.ItemParts{Fractions: drawFractions(t)}
	case 4:
		s.Items = &window.ItemParts{Lists: make([][]int64, rapid.IntRange(2, 3).Draw(t, "parts"))}
		for i := range tab.Items() {
			p := rapid.IntRange(0, len(s.Items.Lists)).Draw(t, "part")
			if p < len(s.Items.Lists) {
				s.Items.Lists[p] = append(s.Items.Lists[p], i)
			}
		}
	}
	return s
}
