package feed

import (
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// Deliveries: how a batch reaches the trainer. In all but Slot the ring holds places alone (item,
// start and row of each window), and the trainer looks at the mapped columns itself.
const (
	Auto   = "auto"
	Slot   = "slot"   // the daemon gathers into a slot of the ring
	View   = "view"   // strides over the mapped columns, where windows follow each other
	Local  = "local"  // the client gathers by the places
	Starts = "starts" // the places are what is asked for
)

// crossingShare is the share of a sequential epoch's batches that may cross the end of a run, and
// so be no view, where auto chooses views.
const crossingShare = 4

// delivery settles how a feed's batches are delivered.
func (w *Windows) delivery(r wire.FeedRequest, o sampler.Options) (string, error) {
	switch r.Delivery {
	case "", Auto:
		if r.Views && w.Viewable(o) {
			return View, nil
		}
		return Slot, nil
	case Slot, Local, Starts:
		return r.Delivery, nil
	case View:
		return View, w.checkView(o)
	}
	return "", wire.NewProblem(wire.InvalidSpec,
		"delivery: got %q, want auto, slot, view, local or starts",
		r.Delivery).WithField("delivery")
}

// Viewable reports whether auto delivers these windows as views: if they can be views, and nearly
// all batches are. Views of blocks never cross the end of a run.
func (w *Windows) Viewable(o sampler.Options) bool {
	runs := int64(w.Index.RunCount())
	mostly := o.Traits().Blocks || runs == 1 ||
		runs <= w.Index.Len()/crossingShare/max(o.BatchSize, 1)
	return mostly && w.checkView(o) == nil
}

// newRingLayout lays out what a slot of the ring holds under a delivery.
func newRingLayout(w *Windows, delivery string, o sampler.Options, channelsFirst,
	mask bool) (*slotLayout, error) {
	if delivery == Slot {
		return newSlotLayout(w, o, channelsFirst, mask)
	}
	s := &slotLayout{}
	ok := s.add("item", layout.Int64, o.BatchSize) && s.add("start", layout.Int64, o.BatchSize) &&
		s.add("row", layout.Int64, o.BatchSize)
	if delivery != View && (mask || w.padded()) {
		ok = ok && s.add("mask", layout.Bool, o.BatchSize, w.Index.Spec().ContextLength)
	}
	if o.Traits().Resets {
		ok = ok && s.add("reset", layout.Bool, o.BatchSize)
	}
	if !ok {
		return nil, tooLarge(o)
	}
	return s, nil
}

// pathOf says how the context gets to the trainer; "" where the daemon has no part in it.
func pathOf(delivery string, f *filler) string {
	switch delivery {
	case Slot:
		return f.path()
	case View:
		return PathView
	}
	return ""
}
