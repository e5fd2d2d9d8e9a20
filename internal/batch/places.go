package batch

import (
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// FillPlaces writes the places of a batch's windows into a slot. For a view of consecutive windows
// it writes only the first place, whose row it also writes into the descriptor.
func (f *Filler) FillPlaces(slot []byte, b *sampler.Batch, view bool, d *wire.Descriptor) {
	if view && f.windows.AreConsecutive(b.Windows) {
		place := f.windows.Index.Place(b.Windows[0])
		int64s(slot, f.item, 1)[0], int64s(slot, f.start, 1)[0] = place.Item, place.Start
		d.Row = f.windows.Offsets[place.Item] + place.Start
		int64s(slot, f.row.Offset, 1)[0] = d.Row
		d.Flags |= wire.FlagRun
		return
	}
	if f.mask != nil {
		f.Fill(slot, b)
		return
	}
	n := len(b.Windows)
	f.places(b.Windows, int64s(slot, f.item, n), int64s(slot, f.start, n),
		int64s(slot, f.row.Offset, n))
	f.fillReset(slot, b)
}

// places writes the places of windows, a run at a time. A window in the run of the one before costs
// a subtraction and a multiplication.
func (f *Filler) places(windows, items, starts, rows []int64) {
	items, starts, rows = items[:len(windows)], starts[:len(windows)], rows[:len(windows)]
	for i, run := 0, 0; i < len(windows); {
		place, first, count := f.windows.Index.RunNear(windows[i], &run)
		offset := f.windows.Offsets[place.Item]
		for ; i < len(windows) && uint64(windows[i]-first) < uint64(count); i++ {
			start := place.Start + (windows[i]-first)*f.stride
			items[i], starts[i], rows[i] = place.Item, start, offset+start
		}
	}
}
