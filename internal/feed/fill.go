package feed

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// filler writes batches of windows into slots. It is immutable and safe for concurrent use.
type filler struct {
	index    *window.Index
	offsets  []int64
	layout   *slotLayout
	parts    []partFiller
	static   *partFiller
	item     int64 // offsets of the parts that every slot has
	start    int64
	row      *wire.Part // where batches are delivered by their places
	mask     *wire.Part
	reset    *wire.Part
	context  int64 // samples
	dilation int64
	stride   int64 // rows between the starts of a run's windows
	load     *load // of all feeds, where there are others
}

// partFiller writes one part.
type partFiller struct {
	wire.Part
	piece   piece // what its blocks are copied from, where one copy makes one
	movers  []mover
	block   int64 // bytes of a window's block
	first   int64 // the window's sample at which the part begins
	length  int64
	spans   []span
	missing *wire.Part
	replace *float64
}

func newFiller(w *Windows, s *slotLayout, channelsFirst bool) (*filler, error) {
	spec := w.Index.Spec()
	f := &filler{
		index: w.Index, offsets: w.table.Offsets, layout: s, row: s.part("row"),
		mask: s.part("mask"), reset: s.part("reset"),
		item: s.part("item").Offset, start: s.part("start").Offset, context: spec.ContextLength,
		dilation: max(spec.Dilation, 1), stride: max(spec.Stride, 1),
	}
	lengths, firsts := partLengths(spec), partFirst(spec)
	columns := w.chosen.parts()
	for _, name := range []string{"context", "target", "known", "static"} {
		p := s.part(name)
		if p == nil {
			continue
		}
		t := target{length: lengths[name], features: width(columns[name]),
			channelsFirst: channelsFirst, dilation: f.dilation}
		if name == "static" {
			t.length, t.channelsFirst = 1, false
		}
		movers, err := newMovers(w.handle.Data, columns[name], p.DType, t)
		if err != nil {
			return nil, err
		}
		pf := partFiller{Part: *p, movers: movers, block: t.length * t.features * p.DType.Size(),
			first: firsts[name], length: t.length,
			missing: s.part(name + "_missing"), replace: spec.MissingValue}
		if m, ok := movers[0].(interface{ piece() piece }); ok {
			pf.piece = m.piece()
		}
		for _, m := range movers {
			pf.spans = append(pf.spans, m.spans()...)
		}
		if name == "static" {
			f.static = &pf
		} else {
			f.parts = append(f.parts, pf)
		}
	}
	return f, nil
}

// path says how the context gets into a slot.
func (f *filler) path() string { return path(f.parts[0].movers) }

// turn is after how many windows the others have their turn: who reads credits, draws batches and
// announces them must not wait until a whole batch is through where there are as many workers as
// threads.
const turn = 64

// fill writes a batch into a slot. The slot's memory is written only, never read but for what was
// just written.
func (f *filler) fill(slot []byte, b *sampler.Batch) {
	n := len(b.Windows)
	items, starts := int64s(slot, f.item, n), int64s(slot, f.start, n)
	var rows []int64
	if f.row != nil {
		rows = int64s(slot, f.row.Offset, n)
	}
	var next spot
	run := 0
	if n > 0 {
		next = f.spot(b.Windows[0], &run)
	}
	for i := range n {
		at := next
		if i+1 < n {
			next = f.spot(b.Windows[i+1], &run)
		}
		if i%turn == turn-1 {
			f.load.yield()
		}
		items[i], starts[i] = at.Item, at.Start
		if rows != nil {
			rows[i] = at.row
		}
		for p := range f.parts {
			f.parts[p].ahead(&at, &next, f.dilation)
		}
		for p := range f.parts {
			f.parts[p].fill(slot, int64(i), at.row, at.pad, f.dilation)
		}
		if f.static != nil {
			f.static.fill(slot, int64(i), f.offsets[at.Item], 0, 1)
		}
		if f.mask != nil {
			m := slot[f.mask.Offset+int64(i)*f.context:][:f.context]
			for j := range m {
				m[j] = boolByte(int64(j) >= at.pad)
			}
		}
	}
	for p := range f.parts {
		f.parts[p].finish(slot, int64(n))
	}
	if f.static != nil {
		f.static.finish(slot, int64(n))
	}
	f.fillReset(slot, b)
}

// fillReset says of each lane whether its stretch begins anew, where the order is lanes.
func (f *filler) fillReset(slot []byte, b *sampler.Batch) {
	if f.reset == nil {
		return
	}
	out := slot[f.reset.Offset:][:len(b.Windows)]
	for i, r := range b.Reset {
		out[i] = boolByte(r)
	}
}

// spot is where a window is read: its first row in the dataset, and how many leading samples are
// padding.
type spot struct {
	window.Place
	row, pad int64
}

// spot finds a window; run is where the latest one was found.
func (f *filler) spot(number int64, run *int) spot {
	place := f.index.PlaceNear(number, run)
	return spot{place, f.offsets[place.Item] + place.Start, f.index.Pad(place)}
}

// ahead fetches what this part of the next window will be read from, unless the window at hand,
// which it overlaps then, brings it.
func (p *partFiller) ahead(at, next *spot, dilation int64) {
	if uint64(next.row-at.row) < uint64(p.length*dilation) {
		return
	}
	row := next.row + (p.first+max(0, next.pad-p.first))*dilation
	for i := range p.spans {
		p.spans[i].ahead(row)
	}
}

// fill writes one window's block: zeros for its padded samples, values for the others.
func (p *partFiller) fill(slot []byte, i, row, pad, dilation int64) {
	block := slot[p.Offset+i*p.block:][:p.block:p.block]
	from := min(max(0, pad-p.first), p.length)
	if from > 0 {
		clear(block)
		if from == p.length {
			return
		}
	}
	if len(block) == 0 {
		return
	}
	row += (p.first + from) * dilation
	if p.piece.base != nil {
		p.piece.move(unsafe.Pointer(&block[from*p.piece.row]), row, p.length-from)
		return
	}
	for _, m := range p.movers {
		m.move(unsafe.Pointer(unsafe.SliceData(block)), row, from)
	}
}

// finish marks and replaces missing values of the first n windows, where asked for.
func (p *partFiller) finish(slot []byte, n int64) {
	if p.missing == nil && p.replace == nil {
		return
	}
	values := slot[p.Offset:][:n*p.block]
	var missing []byte
	if p.missing != nil {
		missing = slot[p.missing.Offset:][:int64(len(values))/p.DType.Size()]
	}
	switch p.DType {
	case layout.Float16:
		markHalves(unsafeSlice[layout.Half](values), missing, p.replace)
	case layout.Float32:
		markMissing(unsafeSlice[float32](values), missing, p.replace)
	case layout.Float64:
		markMissing(unsafeSlice[float64](values), missing, p.replace)
	default:
		clear(missing)
	}
}

func markMissing[T float32 | float64](values []T, missing []byte, replace *float64) {
	for i := range missing {
		missing[i] = boolByte(values[i] != values[i])
	}
	if replace == nil {
		return
	}
	for i, v := range values {
		if v != v {
			values[i] = T(*replace)
		}
	}
}

func markHalves(values []layout.Half, missing []byte, replace *float64) {
	for i := range missing {
		missing[i] = boolByte(values[i].IsNaN())
	}
	if replace == nil {
		return
	}
	half := layout.HalfOf(*replace)
	for i, v := range values {
		if v.IsNaN() {
			values[i] = half
		}
	}
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func int64s(slot []byte, offset int64, n int) []int64 {
	return unsafeSlice[int64](slot[offset:][:n*8])
}

// unsafeSlice sees a part's bytes as values; parts are aligned to 64.
func unsafeSlice[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}
