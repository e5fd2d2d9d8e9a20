package feed

import (
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// mostCells bounds how many values one request for windows gets.
const mostCells = 1_000_000

// Content is what some windows hold, in memory of its own.
type Content struct {
	slot   []byte
	layout *slotLayout
}

// Content gathers windows as a feed does. The numbers must be those of windows; too many values are
// refused.
func (w *Windows) Content(numbers []int64) (*Content, error) {
	s, err := newSlotLayout(w, sampler.Options{BatchSize: int64(len(numbers))}, false, false)
	if err != nil {
		return nil, err
	}
	cells := int64(0)
	for _, name := range []string{"context", "target", "known", "static"} {
		p := s.part(name)
		if p == nil {
			continue
		}
		n := int64(1)
		for _, d := range p.Shape {
			n *= d // at most maxSlot
		}
		cells += n
	}
	if cells > mostCells {
		return nil, wire.NewProblem(wire.TooLarge,
			"windows: the content of %d windows is %d values, at most %d are sent", len(numbers),
			cells, mostCells).
			WithField("numbers").WithHint(
			"ask for fewer windows, or name fewer columns in the spec")
	}
	f, err := newFiller(w, s, false)
	if err != nil {
		return nil, err
	}
	c := &Content{slot: make([]byte, s.bytes), layout: s}
	f.fill(c.slot, &sampler.Batch{Windows: numbers})
	return c, nil
}

// Rows are a part of window i as a list of features for each row; nil where windows have no such
// part.
func (c *Content) Rows(part string, i int) [][]any {
	p := c.layout.part(part)
	if p == nil {
		return nil
	}
	rows, features := p.Shape[1], int64(1)
	if len(p.Shape) == 3 {
		features = p.Shape[2]
	}
	bytes := rows * features * p.DType.Size()
	values := layout.Cells(p.DType, c.slot[p.Offset+int64(i)*bytes:][:bytes])
	out := make([][]any, rows)
	for r := range out {
		out[r] = values[int64(r)*features:][:features:features]
	}
	return out
}

// Static are the static values of window i; nil where there are none.
func (c *Content) Static(i int) []any {
	var out []any
	for _, row := range c.Rows("static", i) {
		out = append(out, row...)
	}
	return out
}

// Mask tells which context rows of window i are no padding; nil where no window may be padded.
func (c *Content) Mask(i int) []bool {
	var out []bool
	for _, row := range c.Rows("mask", i) {
		out = append(out, row[0].(bool))
	}
	return out
}
