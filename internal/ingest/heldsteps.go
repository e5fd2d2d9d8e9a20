package ingest

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// integer are the Go types of integers and truth values.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// runHeld does the steps of a held column.
func (p *preparation) runHeld(ctx context.Context, from, to layout.Dest) error {
	switch from.DType.Plain() {
	case layout.Int8:
		return heldSteps[int8, int64](ctx, p, from, to)
	case layout.Int16:
		return heldSteps[int16, int64](ctx, p, from, to)
	case layout.Int32:
		return heldSteps[int32, int64](ctx, p, from, to)
	case layout.Int64:
		return heldSteps[int64, int64](ctx, p, from, to)
	case layout.Uint16:
		return heldSteps[uint16, int64](ctx, p, from, to)
	case layout.Uint32:
		return heldSteps[uint32, int64](ctx, p, from, to)
	case layout.Uint64:
		return heldSteps[uint64, uint64](ctx, p, from, to)
	}
	return heldSteps[uint8, int64](ctx, p, from, to) // or truth values
}

// heldSteps fills and clips integers of type S, which W holds.
func heldSteps[S integer, W int64 | uint64](ctx context.Context, p *preparation, from, to layout.Dest) error {
	h := heldChain[S, W]{
		preparation: p, from: layout.Values[S](from), width: max(1, to.Width), tile: make([]W, 0, stepTile),
		low: constantOf[W](p.do.clip.Low), high: constantOf[W](p.do.clip.High),
	}
	h.value = constantOf[W](p.do.clip.number(p.do.fill.Value))
	if p.do.fill.How != "" {
		if err := h.note(ctx); err != nil {
			return err
		}
	}
	for item := range len(p.offsets) - 1 {
		for feature := range h.width {
			h.to = column.Sink{Dest: p.summed, Loss: p.loss}
			if to.Width > 0 {
				h.to.Dest = to.Lane(feature)
			}
			if to.DType == layout.Bool { // 0 and 1
				h.to.DType = layout.Uint8
			}
			if err := h.feature(ctx, item, feature); err != nil {
				return err
			}
		}
	}
	return nil
}

// constant is a whole number of the options, which W may not hold.
type constant[W int64 | uint64] struct {
	exact layout.Literal
	is    W
	fits  bool
}

func constantOf[W int64 | uint64](v layout.Literal) constant[W] {
	if ^W(0) > 0 {
		is, fits := v.Uint64()
		return constant[W]{v, W(is), fits}
	}
	is, fits := v.Int64()
	return constant[W]{v, W(is), fits}
}

// above tells whether the constant is above a value, below whether it is below.
func (c constant[W]) above(v W) bool { return c.fits && c.is > v || !c.fits && c.exact.Float > 0 }
func (c constant[W]) below(v W) bool { return c.fits && c.is < v || !c.fits && c.exact.Float < 0 }

// heldChain does the steps of a held column, item by item and feature by feature.
type heldChain[S integer, W int64 | uint64] struct {
	*preparation
	from             layout.Strided[S] // each row's values, and then their marks
	width            int64
	value, low, high constant[W]
	to               column.Sink // of the feature
	tile             []W         // results on their way there
	row              int64
}

// note keeps which values are missing before they are filled.
func (h *heldChain[S, W]) note(ctx context.Context) error {
	var n missingNotes
	for row := range h.from.Rows {
		if row%stepTile == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells := int64(0)
		for _, mark := range h.from.Row(row)[h.width:] {
			cells += int64(mark)
		}
		n.add(row, cells)
	}
	if n.close(); n.cells > 0 {
		h.missing = &layout.BeforeFill{Missing: n.cells, Runs: n.bytes}
	}
	return nil
}

// feature does the steps of one feature of an item.
func (h *heldChain[S, W]) feature(ctx context.Context, item int, feature int64) error {
	values, marks := h.from.Data[feature:], h.from.Data[h.width+feature:]
	row, end, step := h.offsets[item], h.offsets[item+1], h.from.Step
	var before, after W
	known := false // before
	if h.knows(item) {
		before, known = heldBehind[W](h.preparation, item, feature)
	}
	next := row // nothing is there from the row on up to next, where after is
	clip := h.do.clip
	h.row = row
	for ; row < end; row++ {
		v, there := W(values[row*step]), marks[row*step] == 0
		switch {
		case there:
			before, known = v, true
		case h.do.fill.How == fillValue:
			if err := h.constant(ctx, h.value); err != nil {
				return err
			}
			continue
		case h.do.fill.How == fillForward:
			v, there = before, known
		case h.do.fill.How == fillBackward:
			for next = max(next, row); next < end && marks[next*step] != 0; next++ {
			}
			if there = next < end; there {
				after = W(values[next*step])
			}
			v = after
		}
		var err error
		switch {
		case !there:
			err = h.other(layout.LiteralOf(column.NaN))
		case clip.HasLow && h.low.above(v):
			err = h.constant(ctx, h.low)
		case clip.HasHigh && h.high.below(v):
			err = h.constant(ctx, h.high)
		default:
			err = h.add(ctx, v)
		}
		if err != nil {
			return err
		}
	}
	return h.flush()
}

// add takes over the next result.
func (h *heldChain[S, W]) add(ctx context.Context, v W) error {
	if h.tile = append(h.tile, v); len(h.tile) < stepTile {
		return nil
	}
	if err := h.flush(); err != nil {
		return err
	}
	return ctx.Err()
}

func (h *heldChain[S, W]) constant(ctx context.Context, c constant[W]) error {
	if c.fits {
		return h.add(ctx, c.is)
	}
	return h.other(c.exact)
}

// other takes over a result that is missing, or that W does not hold.
func (h *heldChain[S, W]) other(n layout.Literal) error {
	if err := h.flush(); err != nil {
		return err
	}
	v := n.Float
	signed, isSigned := n.Int64()
	unsigned, isUnsigned := n.Uint64()
	bad := int64(-1)
	switch {
	case v != v && !h.to.DType.IsFloat():
		return h.notHeld(h.row, v, h.to.DType)
	case isSigned:
		bad = int64(column.Put(h.to, h.row, []int64{signed}))
	case isUnsigned:
		bad = int64(column.Put(h.to, h.row, []uint64{unsigned}))
	case v == v && column.NarrowedTo(h.to.DType, v) != v || column.Put(h.to, h.row, []float64{v}) >= 0:
		bad = 0
	}
	if bad >= 0 {
		return h.misfit(h.row, n.String())
	}
	h.row++
	return nil
}

// flush stores the results so far.
func (h *heldChain[S, W]) flush() error {
	if bad := column.Put(h.to, h.row, h.tile); bad >= 0 {
		return h.misfit(h.row+int64(bad), fmt.Sprint(h.tile[bad]))
	}
	h.row += int64(len(h.tile))
	h.tile = h.tile[:0]
	return nil
}

// misfit refuses a result that its column cannot hold.
func (h *heldChain[S, W]) misfit(row int64, text string) error {
	e := h.place(row)
	e.Column, e.Reason, e.Hint = h.column.Name, fmt.Sprintf("%s after the steps does not fit %s", text, h.to.DType), column.HintWider
	return &e
}

// heldBehind is the last value of an item's feature in the generation.
func heldBehind[W int64 | uint64](p *preparation, item int, feature int64) (v W, ok bool) {
	old, code := p.old(), p.base.of[item]
	row := p.base.offsets[code+1] - 1
	if row < p.base.offsets[code] {
		return 0, false
	}
	d := p.base.data
	switch old.DType {
	case layout.Int64:
		return wholeAt[int64, W](d, old, row, feature)
	case layout.Uint64:
		return wholeAt[uint64, W](d, old, row, feature)
	case layout.Bool:
		return wholeAt[uint8, W](d, old, row, feature)
	}
	x := numberAt(d, old, row, feature) // floats, and integers that they hold
	return W(x), x == x
}

func wholeAt[S integer, W int64 | uint64](d *layout.Data, c *layout.ManifestColumn, row, feature int64) (v W, ok bool) {
	cells, err := layout.View[S](d, c)
	if err != nil {
		return 0, false
	}
	return W(cells.Data[row*cells.Step+feature]), true
}
