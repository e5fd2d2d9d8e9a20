package feed

import (
	"strconv"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// partAlignment is that of every part in a slot: enough for JAX and for a GPU's copies.
const partAlignment = 64

// maxSlot bounds one batch; a ring of the fewest slots must still be addressable.
const maxSlot = 1 << 40

// slotLayout says where in a slot each part of a batch stands.
type slotLayout struct {
	parts []wire.Part
	bytes int64
}

// add places a part after the ones before.
func (s *slotLayout) add(name string, dtype layout.DType, shape ...int64) bool {
	bytes := dtype.Size()
	for _, n := range shape {
		if n > 0 && bytes > maxSlot/n {
			return false
		}
		bytes *= n
	}
	s.parts = append(s.parts, wire.Part{Name: name, DType: dtype, Shape: shape, Offset: s.bytes})
	s.bytes += (bytes + partAlignment - 1) / partAlignment * partAlignment
	return s.bytes <= maxSlot
}

// part finds a part; nil when the slot has none of the name.
func (s *slotLayout) part(name string) *wire.Part {
	for i := range s.parts {
		if s.parts[i].Name == name {
			return &s.parts[i]
		}
	}
	return nil
}

// newSlotLayout lays a slot out for batches of the windows.
func newSlotLayout(w *Windows, o sampler.Options, channelsFirst, mask bool) (*slotLayout, error) {
	spec := w.Index.Spec()
	s := &slotLayout{}
	ok := true
	block := func(name string, dtype layout.DType, rows, features int64) {
		if channelsFirst {
			rows, features = features, rows
		}
		ok = ok && s.add(name, dtype, o.BatchSize, rows, features)
	}
	lengths := partLengths(spec)
	block("context", w.chosen.dtype["context"], lengths["context"], width(w.chosen.context))
	hasTarget := len(w.chosen.target) > 0 && !w.Index.IsLatest()
	if hasTarget {
		block("target", w.chosen.dtype["target"], lengths["target"], width(w.chosen.target))
	}
	if len(w.chosen.known) > 0 {
		block("known", w.chosen.dtype["known"], lengths["known"], width(w.chosen.known))
	}
	if len(w.chosen.static) > 0 {
		ok = ok && s.add("static", w.chosen.dtype["static"], o.BatchSize, width(w.chosen.static))
	}
	ok = ok && s.add("item", layout.Int64, o.BatchSize) && s.add("start", layout.Int64, o.BatchSize)
	if mask || w.padded() {
		ok = ok && s.add("mask", layout.Bool, o.BatchSize, lengths["context"])
	}
	if mask || spec.MaxMissing.Any || spec.MaxMissing.Share > 0 {
		block("context_missing", layout.Bool, lengths["context"], width(w.chosen.context))
		if hasTarget {
			block("target_missing", layout.Bool, lengths["target"], width(w.chosen.target))
		}
	}
	if o.Traits().Resets {
		ok = ok && s.add("reset", layout.Bool, o.BatchSize)
	}
	if !ok {
		return nil, tooLarge(o)
	}
	return s, nil
}

func tooLarge(o sampler.Options) error {
	return wire.NewProblem(wire.InvalidSpec,
		"batch_size: a batch of %d windows takes over %d bytes", o.BatchSize,
		int64(maxSlot)).WithField("batch_size").WithHint(
		"use a smaller batch_size, shorter windows or fewer columns")
}

// partLengths is the number of rows of each part of a window.
func partLengths(s window.Spec) map[string]int64 {
	return map[string]int64{
		"context": s.ContextLength,
		"target":  s.Overlap + s.PredictionLength,
		"known":   s.ContextLength + s.Gap + s.PredictionLength,
	}
}

// partFirst is the sample of a window at which each part begins.
func partFirst(s window.Spec) map[string]int64 {
	return map[string]int64{"context": 0, "target": s.ContextLength + s.Gap - s.Overlap, "known": 0}
}

// chooseSlots is the number of slots of a ring: about 16 MiB of it, 8 to 64, unless the client
// asks.
func chooseSlots(asked int, slotBytes int64) int {
	if asked > 0 {
		return asked
	}
	return int(min(64, max(8, (16<<20)/max(slotBytes, 1))))
}

// Fewest and most slots of a ring. Three let one be filled while one is read and one is held; a
// credit of the most is one frame.
const (
	minSlots = 3
	maxSlots = wire.MaxFrame / 4
)

// SlotPath says how batches of these windows get into slots (a path), and the bytes of one.
func (w *Windows) SlotPath(o sampler.Options, channelsFirst, mask bool) (path string,
	bytes int64, err error) {
	if o.BatchSize < 1 {
		return "", 0, &sampler.OptionError{Field: "batch_size",
			Value: strconv.FormatInt(o.BatchSize, 10), Allowed: "a whole number from 1"}
	}
	s, err := newSlotLayout(w, o, channelsFirst, mask)
	if err != nil {
		return "", 0, err
	}
	f, err := newFiller(w, s, channelsFirst)
	if err != nil {
		return "", 0, err
	}
	return f.path(), s.bytes, nil
}
