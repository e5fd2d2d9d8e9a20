package batch

import (
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// maxCells bounds the number of values of one [Content].
const maxCells = 1_000_000

// Content is the values of some windows, in memory of its own.
type Content struct {
	slot   []byte
	layout *Layout
}

// NewContent gathers windows as a feed does. The numbers must be those of windows. The error is a
// *wire.Problem of type too_large for more than a million values.
func NewContent(w *plan.Windows, numbers []int64) (*Content, error) {
	l, err := NewLayout(w, Slot, Shape{Windows: int64(len(numbers))})
	if err != nil {
		return nil, err
	}
	cells := int64(0)
	for _, p := range w.Parts() {
		if p := l.Part(p.Name); p != nil {
			n := int64(1)
			for _, d := range p.Shape {
				n *= d // at most maxSlotBytes
			}
			cells += n
		}
	}
	if cells > maxCells {
		return nil, wire.NewProblem(wire.TooLarge,
			"windows: the content of %d windows is %d values, at most %d are sent", len(numbers),
			cells, maxCells).WithField("numbers").
			WithHint("ask for fewer windows, or name fewer columns in the spec")
	}
	f, err := NewFiller(w, l, false)
	if err != nil {
		return nil, err
	}
	c := &Content{slot: make([]byte, l.Bytes), layout: l}
	f.Fill(c.slot, &sampler.Batch{Windows: numbers})
	return c, nil
}

// Rows returns a part of window i as a list of features for each row, nil if windows have no such
// part.
func (c *Content) Rows(part string, i int) [][]any {
	p := c.layout.Part(part)
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

// Static returns the static values of window i, nil if there are none.
func (c *Content) Static(i int) []any {
	var out []any
	for _, row := range c.Rows(plan.Static, i) {
		out = append(out, row...)
	}
	return out
}

// Mask reports which context rows of window i are not padding. It is nil if no window may be
// padded.
func (c *Content) Mask(i int) []bool {
	var out []bool
	for _, row := range c.Rows(plan.Mask, i) {
		out = append(out, row[0].(bool))
	}
	return out
}
