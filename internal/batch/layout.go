package batch

import (
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// partAlignment is the alignment of every part in a slot, in bytes: enough for JAX and for copies
// to a GPU.
const partAlignment = 64

// maxSlotBytes bounds one batch. A ring of the fewest slots must still be addressable.
const maxSlotBytes = 1 << 40

// Layout is where in a slot each part of a batch is.
type Layout struct {
	Parts []wire.Part
	Bytes int64 // of a slot

	hasMissing bool // the masks of missing values
}

// Shape is what a layout depends on beside the windows and the delivery.
type Shape struct {
	Windows       int64 // of the largest batch
	Resets        bool  // batches have the part reset
	ChannelsFirst bool
	Mask          bool // batches have masks of padding and missing values even if there are none
}

// ShapeOf returns the shape of the batches of a sampler.
func ShapeOf(s *sampler.Sampler, channelsFirst, mask bool) Shape {
	return Shape{Windows: s.LargestBatch(), Resets: s.Options().Traits().Resets,
		ChannelsFirst: channelsFirst, Mask: mask}
}

// NewLayout returns the layout of a slot for batches of the windows by a delivery.
func NewLayout(w *plan.Windows, delivery string, s Shape) (*Layout, error) {
	l, ok := &Layout{}, false
	if delivery == Slot {
		ok = l.addValues(w, s)
	} else {
		ok = l.addPlaces(w, s.Windows, delivery != View && (s.Mask || w.HasMask()))
	}
	if s.Resets {
		ok = ok && l.add("reset", layout.Bool, s.Windows)
	}
	if !ok {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"batch_size: a batch of %d windows takes over %d bytes", s.Windows,
			int64(maxSlotBytes)).WithField("batch_size").
			WithHint("use a smaller `batch_size`, shorter windows or fewer columns")
	}
	return l, nil
}

// Part returns a part by its name, or nil if slots have no such part.
func (l *Layout) Part(name string) *wire.Part {
	for i := range l.Parts {
		if l.Parts[i].Name == name {
			return &l.Parts[i]
		}
	}
	return nil
}

// add adds a part after the others, and reports whether the slot is small enough.
func (l *Layout) add(name string, dtype layout.DType, shape ...int64) bool {
	bytes := dtype.Size()
	for _, n := range shape {
		if n > 0 && bytes > maxSlotBytes/n {
			return false
		}
		bytes *= n
	}
	l.Parts = append(l.Parts, wire.Part{Name: name, DType: dtype, Shape: shape, Offset: l.Bytes})
	l.Bytes += (bytes + partAlignment - 1) / partAlignment * partAlignment
	return l.Bytes <= maxSlotBytes
}

// addValues adds the parts of dense batches.
func (l *Layout) addValues(w *plan.Windows, s Shape) bool {
	ok := true
	block := func(name string, dtype layout.DType, p plan.Part) {
		rows, features := p.Length, p.Width()
		if s.ChannelsFirst {
			rows, features = features, rows
		}
		ok = ok && l.add(name, dtype, s.Windows, rows, features)
	}
	masked := []plan.Part{}
	for _, p := range w.Parts() {
		switch {
		case p.Of == plan.Target && w.Index.IsLatest():
		case p.Of == plan.Static:
			ok = ok && l.add(p.Name, p.DType, s.Windows, p.Width())
		default:
			if block(p.Name, p.DType, p); p.Of != plan.Known {
				masked = append(masked, p)
			}
		}
	}
	ok = ok && l.add("item", layout.Int64, s.Windows) && l.add("start", layout.Int64, s.Windows)
	if s.Mask || w.HasMask() {
		ok = ok && l.add(plan.Mask, layout.Bool, s.Windows, w.Index.Spec().ContextLength)
	}
	if l.hasMissing = s.Mask || w.HasMissing(); l.hasMissing {
		for _, p := range masked {
			block(p.Name+missingSuffix, layout.Bool, p)
		}
	}
	return ok
}

// missingSuffix follows the name of a part in the name of the mask of its missing values.
const missingSuffix = "_missing"

// addPlaces adds the parts of batches whose windows are given by their places.
func (l *Layout) addPlaces(w *plan.Windows, windows int64, mask bool) bool {
	ok := l.add("item", layout.Int64, windows) && l.add("start", layout.Int64, windows) &&
		l.add("row", layout.Int64, windows)
	if mask {
		ok = ok && l.add(plan.Mask, layout.Bool, windows, w.Index.Spec().ContextLength)
	}
	return ok
}

// SlotPath returns how batches of the windows get into slots (a path), and the bytes of a slot.
func SlotPath(w *plan.Windows, s Shape) (path string, bytes int64, err error) {
	l, err := NewLayout(w, Slot, s)
	if err != nil {
		return "", 0, err
	}
	f, err := newFillerOfValues(w, l, s.ChannelsFirst)
	if err != nil {
		return "", 0, err
	}
	return f.Path(Slot), l.Bytes, nil
}
