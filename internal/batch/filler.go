package batch

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/gather"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// Filler writes batches of windows into slots. It is immutable and safe for concurrent use.
type Filler struct {
	// Yield, if it is not nil, is called after every yieldWindows windows of a batch, so that the
	// goroutines that read credits, draw batches and announce them need not wait for a whole batch
	// if there are as many workers as threads.
	Yield func()

	windows *plan.Windows
	parts   []part // of samples
	statics []part
	masks   []mask
	// offsets in a slot of the parts that every slot has
	item, start int64
	row         *wire.Part // of batches that are delivered by their places
	mask        *wire.Part
	reset       *wire.Part
	context     int64 // number of samples
	dilation    int64
	stride      int64 // rows between the starts of a run's windows
	pads        bool  // windows may have padding, and its value is not 0
}

// yieldWindows is the number of windows after which Fill calls Yield.
const yieldWindows = 64

// part writes one part of windows.
type part struct {
	wire.Part
	gather      *gather.Part
	first       int64 // the window's sample at which the part begins
	length      int64
	calendar    *gather.Calendar // in place of gather, if rows after an item's end are computed
	missing     *wire.Part       // the mask of its missing values; nil if there is none
	replacement *float64         // of missing values; nil to keep them
}

// NewFiller returns a filler of slots with a layout. The error wraps [layout.ErrSchema], or is a
// *wire.Problem.
func NewFiller(w *plan.Windows, l *Layout, channelsFirst bool) (*Filler, error) {
	f, err := newFillerOfValues(w, l, channelsFirst)
	if err == nil {
		err = f.addMasks(l, channelsFirst)
	}
	return f, err
}

// newFillerOfValues returns a filler that writes no masks of values, which cost a pass over the missing
// values at first. It reads nothing.
func newFillerOfValues(w *plan.Windows, l *Layout, channelsFirst bool) (*Filler, error) {
	spec := w.Index.Spec()
	f := &Filler{
		windows: w, item: l.Part("item").Offset, start: l.Part("start").Offset,
		row: l.Part("row"), mask: l.Part(plan.Mask), reset: l.Part("reset"),
		context: spec.ContextLength, dilation: max(spec.Dilation, 1), stride: max(spec.Stride, 1),
		pads: spec.PadValue != 0 && w.IsPadded(),
	}
	for _, p := range w.Parts() {
		at := l.Part(p.Name)
		if at == nil || !p.HasValues() {
			continue
		}
		g, err := gather.NewPart(w.Handle.Data, p.Columns, at.DType, f.block(p, channelsFirst))
		if err != nil {
			return nil, err
		}
		one := part{Part: *at, gather: g, first: p.First, length: p.Length,
			replacement: spec.MissingValue}
		if l.hasMissing {
			one.missing = l.Part(p.Name + missingSuffix)
		}
		if ends := w.KnownAfter(); ends != nil && p.Of == plan.Known {
			if one.calendar, err = gather.NewCalendar(w.Handle.Data, p.Columns, at.DType, g, ends); err != nil {
				return nil, err
			}
		}
		if p.Of == plan.Static {
			f.statics = append(f.statics, one)
		} else {
			f.parts = append(f.parts, one)
		}
	}
	return f, nil
}

// block returns the shape of the blocks of a part.
func (f *Filler) block(p plan.Part, channelsFirst bool) gather.Block {
	return gather.Block{Length: p.Length, Features: p.Width(), Dilation: f.dilation,
		ChannelsFirst: channelsFirst && p.Of != plan.Static, Pad: f.windows.Index.Spec().PadValue}
}

// Fill writes a batch into a slot.
func (f *Filler) Fill(slot []byte, b *sampler.Batch) {
	n := len(b.Windows)
	items, starts := int64s(slot, f.item, n), int64s(slot, f.start, n)
	var rows []int64
	if f.row != nil {
		rows = int64s(slot, f.row.Offset, n)
	}
	var next source
	run, padded := 0, false
	if n > 0 {
		next = f.source(b.Windows[0], &run)
	}
	for i := range n {
		at := next
		if i+1 < n {
			next = f.source(b.Windows[i+1], &run)
		}
		if i%yieldWindows == yieldWindows-1 && f.Yield != nil {
			f.Yield()
		}
		items[i], starts[i] = at.Item, at.Start
		padded = padded || at.padding > 0
		if rows != nil {
			rows[i] = at.row
		}
		for p := range f.parts {
			f.parts[p].prefetch(&at, &next, f.dilation)
		}
		for p := range f.parts {
			f.parts[p].fill(slot, int64(i), &at, f.dilation)
		}
		for p := range f.statics {
			f.statics[p].fill(slot, int64(i), &source{row: f.windows.Offsets[at.Item]}, 1)
		}
		if f.mask != nil {
			m := slot[f.mask.Offset+int64(i)*f.context:][:f.context]
			for j := range m {
				m[j] = boolByte(int64(j) >= at.padding)
			}
		}
	}
	for p := range f.parts {
		f.parts[p].finish(slot, int64(n))
	}
	for p := range f.statics {
		f.statics[p].finish(slot, int64(n))
	}
	f.fillMasks(slot, b.Windows)
	if f.pads && padded {
		f.pad(slot, items, starts)
	}
	f.fillReset(slot, b)
}

// pad writes the value of padding into the windows of a batch.
func (f *Filler) pad(slot []byte, items, starts []int64) {
	for i, item := range items {
		padding := f.windows.Index.Pad(window.Place{Item: item, Start: starts[i]})
		if padding == 0 {
			continue
		}
		for p := range f.parts {
			f.parts[p].gather.Pad(f.parts[p].block(slot, int64(i)), padding-f.parts[p].first)
		}
	}
}

// fillReset writes, for the order lanes, of each lane whether its state must be reset.
func (f *Filler) fillReset(slot []byte, b *sampler.Batch) {
	if f.reset == nil {
		return
	}
	out := slot[f.reset.Offset:][:len(b.Windows)]
	for i, r := range b.Reset {
		out[i] = boolByte(r)
	}
}

// source is where a window is read: its first row in the dataset, and how many of its first samples
// are padding.
type source struct {
	window.Place
	row, padding int64
}

// source returns where a window is read. run is where the latest window was found.
func (f *Filler) source(number int64, run *int) source {
	place := f.windows.Index.PlaceNear(number, run)
	return source{place, f.windows.Offsets[place.Item] + place.Start, f.windows.Index.Pad(place)}
}

// prefetch fetches the cache lines that this part of the next window is read from, unless the next
// window overlaps the present one.
func (p *part) prefetch(at, next *source, dilation int64) {
	if uint64(next.row-at.row) < uint64(p.length*dilation) {
		return
	}
	p.gather.Prefetch(next.row + (p.first+max(0, next.padding-p.first))*dilation)
}

// fill writes the block of window i.
func (p *part) fill(slot []byte, i int64, at *source, dilation int64) {
	padding := min(max(0, at.padding-p.first), p.length)
	row := at.row + (p.first+padding)*dilation
	if p.calendar != nil {
		p.calendar.Copy(p.block(slot, i), at.Item, row, padding)
		return
	}
	p.gather.Copy(p.block(slot, i), row, padding)
}

// block returns the block of window i in a slot.
func (p *part) block(slot []byte, i int64) []byte {
	bytes := p.gather.BlockBytes()
	return slot[p.Offset+i*bytes:][:bytes:bytes]
}

// finish marks and replaces the missing values of the first n windows.
func (p *part) finish(slot []byte, n int64) {
	if p.missing == nil && p.replacement == nil {
		return
	}
	values := slot[p.Offset:][:n*p.gather.BlockBytes()]
	if p.missing != nil {
		gather.MarkMissing(p.DType, values,
			slot[p.missing.Offset:][:int64(len(values))/p.DType.Size()])
	}
	if p.replacement != nil {
		gather.ReplaceMissing(p.DType, values, *p.replacement)
	}
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// int64s returns n integers of a slot.
func int64s(slot []byte, offset int64, n int) []int64 {
	b := slot[offset:][:n*8]
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
