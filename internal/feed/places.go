package feed

import (
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// fillPlaces writes the places of a batch's windows. Of a view it is the first place alone, whose
// row the descriptor has too.
func (s *stream) fillPlaces(slot []byte, b *sampler.Batch, d *wire.Descriptor) {
	f := s.filler
	if s.delivery == View && follows(f.index, b.Windows) {
		place := f.index.Place(b.Windows[0])
		int64s(slot, f.item, 1)[0], int64s(slot, f.start, 1)[0] = place.Item, place.Start
		d.Row = f.offsets[place.Item] + place.Start
		int64s(slot, f.row.Offset, 1)[0] = d.Row
		d.Flags |= wire.FlagRun
		return
	}
	if f.mask != nil {
		f.fill(slot, b)
		return
	}
	n := len(b.Windows)
	f.places(b.Windows, int64s(slot, f.item, n), int64s(slot, f.start, n),
		int64s(slot, f.row.Offset, n))
	f.fillReset(slot, b)
}

// places finds windows, a run at a time: those that lie in the run of the one before cost a
// subtraction and a product each.
func (f *filler) places(windows, items, starts, rows []int64) {
	items, starts, rows = items[:len(windows)], starts[:len(windows)], rows[:len(windows)]
	for i, run := 0, 0; i < len(windows); {
		place, first, count := f.index.RunNear(windows[i], &run)
		offset := f.offsets[place.Item]
		for ; i < len(windows) && uint64(windows[i]-first) < uint64(count); i++ {
			start := place.Start + (windows[i]-first)*f.stride
			items[i], starts[i], rows[i] = place.Item, start, offset+start
		}
	}
}

// follows tells whether windows, whose numbers ascend but where a tail wraps, start a stride apart
// in one item: then and only then first and last are as far apart as their count says.
func follows(x *window.Index, windows []int64) bool {
	last := int64(len(windows) - 1)
	a, b := x.Place(windows[0]), x.Place(windows[last])
	return windows[last]-windows[0] == last && a.Item == b.Item &&
		b.Start-a.Start == last*max(x.Spec().Stride, 1)
}
