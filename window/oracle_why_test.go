package window_test

import "github.com/tensorcache/tensorcache/window"

// lastRow returns the last row of the window that starts at s.
func (o *oracle) lastRow(s int64) int64 {
	for i := int64(1); i < o.spec.ContextLength+o.spec.Gap+o.spec.PredictionLength; i++ {
		s += or1(o.spec.Dilation)
	}
	return s
}

func (o *oracle) isPosition(item, s int64) bool {
	n := o.rows(item)
	a, b := o.admitted(item)
	stride := or1(o.spec.Stride)
	if n == 0 {
		return false
	}
	if o.spec.Anchor == "end" {
		last := o.lastRow(s)
		return (b-1-last)%stride == 0 && last >= 0 && last < n
	}
	return (s-a)%stride == 0 && s < n && (s >= 0 || o.padded(item, s))
}

// why returns the reason that rejects a position, or "" if it is a window.
func (o *oracle) why(item, s int64, part *rowsOf) window.Reason {
	n := o.rows(item)
	a, b := o.admitted(item)
	last := o.lastRow(s)
	overStart := s < a && !o.padded(item, s)
	overEnd := last >= b
	switch {
	case overStart && a > 0, overEnd && b < n:
		return window.ReasonBounds
	case overStart, overEnd:
		return window.ReasonItemEnd
	case o.jumps(item, s, last, a):
		return window.ReasonMaxStep
	case o.misses(item, s, a):
		return window.ReasonMaxMissing
	}
	d := or1(o.spec.Dilation)
	for i := o.spec.ContextLength + o.spec.Gap; i < o.spec.ContextLength+o.spec.Gap+
		o.spec.PredictionLength; i++ {
		if !part.in[s+i*d] {
			return window.ReasonSplit
		}
	}
	if o.spec.PredictionLength == 0 && !part.in[last] {
		return window.ReasonSplit
	}
	if s < part.context && part.context > a {
		return window.ReasonSplit
	}
	return ""
}

func (o *oracle) jumps(item, s, last, a int64) bool {
	if o.spec.MaxStep == nil {
		return false
	}
	most, ok := map[string]int64{"1s": 1, "2s": 2, "5s": 5, "1": 1, "2": 2,
		"5": 5}[o.spec.MaxStep.String()]
	if !ok {
		panic(o.spec.MaxStep.String())
	}
	times := o.times(item)
	for r := s; r < last; r++ {
		if r >= a && times[r+1]-times[r] > most {
			return true
		}
	}
	return false
}

func (o *oracle) misses(item, s, a int64) bool {
	if o.spec.MaxMissing.Any {
		return false
	}
	cells, missing := int64(0), int64(0)
	c, g, l, p, d := o.spec.ContextLength, o.spec.Gap, o.spec.Overlap, o.spec.PredictionLength,
		or1(o.spec.Dilation)
	for _, col := range o.table.Columns {
		for i := range c + g + p {
			used := col.Context && i < c || col.Target && i >= c+g-l
			row := s + i*d
			if !used || row < a {
				continue
			}
			cells += col.Cells
			missing += o.missingCells(col, item, row)
		}
	}
	if missing == 0 {
		return false
	}
	return float64(missing)/float64(cells) > o.spec.MaxMissing.Share
}

func (o *oracle) missingCells(col window.Column, item, row int64) int64 {
	for _, m := range col.Missing {
		if m.Row == o.table.Offsets[item]+row {
			return m.Cells
		}
	}
	return 0
}

// latest finds the one window of each item.
func (o *oracle) latest(f *found, cuts []window.Cut) {
	context := *o
	context.spec.Gap, context.spec.Overlap, context.spec.PredictionLength = 0, 0, 0
	context.table.Columns = nil
	for _, c := range o.table.Columns {
		if c.Context {
			c.Target = false
			context.table.Columns = append(context.table.Columns, c)
		}
	}
	for item := range int64(len(o.table.Offsets) - 1) {
		part := o.part(item, cuts)
		if part.gone {
			continue
		}
		end := int64(-1)
		targets := 0
		for row, in := range part.in {
			for _, c := range o.table.Columns {
				if c.Target {
					targets++
				}
				if in && c.Target && o.missingCells(c, item, int64(row)) < c.Cells {
					end = int64(row)
				}
			}
			if in && targets == 0 {
				end = int64(row)
			}
		}
		if end < 0 {
			continue
		}
		s := end - (o.spec.ContextLength-1)*or1(o.spec.Dilation)
		if why := context.why(item, s, &part); why != "" {
			f.rejected[why]++
			continue
		}
		f.places = append(f.places, window.Place{Item: item, Start: s})
		f.pads = append(f.pads, o.pad(item, s))
	}
}
