package batch

import (
	"github.com/tensorcache/tensorcache/internal/gather"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// mask writes a mask of the values of one part of windows.
type mask struct {
	wire.Part
	gather        *gather.Mask
	first, length int64 // as of a part
}

// addMasks adds the masks of values that are in a layout.
func (f *Filler) addMasks(l *Layout, channelsFirst bool) error {
	for _, p := range f.windows.Parts() {
		at := l.Part(p.Name)
		if at == nil || p.HasValues() {
			continue
		}
		bits, err := f.windows.MaskBits(p)
		if err != nil {
			return err
		}
		m, b := mask{Part: *at, first: p.First, length: p.Length}, f.block(p, channelsFirst)
		if m.gather = gather.NewMissingMask(bits, b); p.Kind == plan.KindObserved {
			m.gather = gather.NewObservedMask(bits, b)
		}
		f.masks = append(f.masks, m)
	}
	return nil
}

// fillMasks writes the masks of values of a batch. It has a loop of its own, so that batches without
// masks take no longer.
func (f *Filler) fillMasks(slot []byte, windows []int64) {
	if len(f.masks) == 0 || len(windows) == 0 {
		return
	}
	run := 0
	var before source
	next := f.source(windows[0], &run)
	for i := range windows {
		at := next
		if i+1 < len(windows) {
			next = f.source(windows[i+1], &run)
		}
		if i%yieldWindows == yieldWindows-1 && f.Yield != nil {
			f.Yield()
		}
		for n := range f.masks {
			m := &f.masks[n]
			m.prefetch(&at, &next, f.dilation)
			if i > 0 && before.padding == 0 && at.padding == 0 {
				m.fillNext(slot, int64(i), at.row, at.row-before.row, f.dilation)
			} else {
				m.fill(slot, int64(i), at.row, at.padding, f.dilation)
			}
		}
		before = at
	}
}

// prefetch fetches the bits of the next window, unless it overlaps the present one.
func (m *mask) prefetch(at, next *source, dilation int64) {
	if uint64(next.row-at.row) >= uint64(m.length*dilation) {
		m.gather.Prefetch(next.row + (m.first+max(0, next.padding-m.first))*dilation)
	}
}

// fill writes the block of window i, whose first row in the dataset is row.
func (m *mask) fill(slot []byte, i, row, padding, dilation int64) {
	padding = min(max(0, padding-m.first), m.length)
	bytes := m.gather.BlockBytes()
	m.gather.Copy(slot[m.Offset+i*bytes:][:bytes], row+(m.first+padding)*dilation, padding)
}

// fillNext writes the block of window i, which begins step rows after window i − 1. Neither has padding.
func (m *mask) fillNext(slot []byte, i, row, step, dilation int64) {
	bytes := m.gather.BlockBytes()
	blocks := slot[m.Offset+(i-1)*bytes:][:2*bytes]
	m.gather.CopyNext(blocks[bytes:], blocks[:bytes], row+m.first*dilation, step)
}
