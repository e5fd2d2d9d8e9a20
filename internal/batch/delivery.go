package batch

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// Deliveries: how a batch reaches the trainer. In all but Slot the ring has only the places of the
// windows (item, start and row of each), and the client reads the mapped columns itself.
const (
	Auto   = "auto"
	Slot   = "slot"   // the daemon gathers into a slot of the ring
	View   = "view"   // strides over rows that windows share: the mapped columns, or the client's copy
	Local  = "local"  // the client gathers from the places
	Starts = "starts" // the places are all that the client wants
)

// minBatchesPerCrossing is the least number of a sequential epoch's batches for each one that
// crosses the end of a run, and so cannot be a view. With fewer, auto does not choose views.
const minBatchesPerCrossing = 4

// ChooseDelivery returns the delivery of a request. The error is a *wire.Problem.
func ChooseDelivery(w *plan.Windows, r wire.FeedRequest, o sampler.Options) (string, error) {
	switch r.Delivery {
	case "", Auto:
		if r.Views && mostlyViews(w, o) {
			return View, nil
		}
		return Slot, nil
	case Slot, Starts:
		return r.Delivery, nil
	case Local:
		if readsComputed(w) {
			return "", wire.NewProblem(wire.InvalidSpec, "delivery: got %q, but %s", Local, whyComputed).
				WithField("delivery").WithHint(hintSlots)
		}
		return Local, nil
	case View:
		return View, CheckView(w, o)
	}
	return "", wire.NewProblem(wire.InvalidSpec,
		"delivery: got %q, want auto, slot, view, local or starts", r.Delivery).
		WithField("delivery")
}

// mostlyViews reports whether windows can be views and nearly all batches are. Views of blocks never
// cross the end of a run. Masks cannot be views: the daemon makes them from bits, and a client would
// make them from the values.
func mostlyViews(w *plan.Windows, o sampler.Options) bool {
	runs := int64(w.Index.RunCount())
	mostly := o.Traits().Blocks || runs == 1 ||
		runs <= w.Index.Len()/minBatchesPerCrossing/max(int64(o.BatchSize), 1)
	return mostly && !w.HasValueMasks() && CheckView(w, o) == nil
}

// Paths: how a window's context gets to the trainer.
const (
	PathMemcpy    = "memcpy"    // one copy of contiguous rows or channels
	PathTranspose = "transpose" // columns are interleaved, or values converted, on the way
	PathView      = "view"      // strides over rows, not gathered
)

// Path returns how the context, or the first part of values that a request names, gets to the trainer
// by a delivery; "" if there is none, or if the daemon gathers no samples.
func (f *Filler) Path(delivery string) string {
	switch {
	case delivery == View && slices.ContainsFunc(f.windows.Parts(), plan.Part.HasValues):
		return PathView
	case delivery != Slot || len(f.parts) == 0:
		return ""
	case f.parts[0].gather.IsMemcpy():
		return PathMemcpy
	}
	return PathTranspose
}
