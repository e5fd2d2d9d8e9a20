package feed

import (
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// A trainer that waits for less than this share of its time is bound by its own work. If a daemon
// waits for the trainer for more than muchWaiting, while the trainer waits for it, the ring has too
// few slots to even out bursts.
const (
	littleWaiting = 0.02
	muchWaiting   = 0.2
)

// verdict returns in one line what limits a feed, and what to try.
func (s *feed) verdict(f wire.Feed, in shares) string {
	if f.PassS == 0 {
		return "not measured yet"
	}
	if f.WaitDataShare < littleWaiting {
		return fmt.Sprintf("trainer-bound: %.1f %% waiting for data", 100*f.WaitDataShare)
	}
	return fmt.Sprintf("input-bound %.0f %%: %s", 100*f.WaitDataShare, s.bottleneck(f, in))
}

// bottleneck returns what makes a trainer wait, and what to try.
func (s *feed) bottleneck(f wire.Feed, in shares) string {
	o := s.sampler.Options()
	switch {
	case in.disk > max(littleWaiting, (1-in.idle)/2):
		return fmt.Sprintf("the data is not in memory and is read from the disk; "+
			"try tensorcache preload %s, or fewer columns or a smaller dtype if it does not fit",
			f.Dataset)
	case in.idle > muchWaiting:
		return fmt.Sprintf("the %d slots run out in bursts, try slots=%d", f.Slots, 2*f.Slots)
	case f.Delivery != batch.Slot || len(s.windows.Parts()) == 0:
		return fmt.Sprintf("the daemon writes only the places of windows, and the trainer is "+
			"faster; try larger batches, or leave one of the %d cores to the daemon", s.pool.Size())
	case !s.windows.HasValueMasks() && batch.CheckView(s.windows, o) == nil:
		return `the gather copies what could be a view, try delivery="view"`
	case f.Path == batch.PathMemcpy:
		return fmt.Sprintf("the gather is limited by memory, with %d workers; "+
			"try fewer columns or a smaller dtype", s.pool.Size())
	case !slices.ContainsFunc(s.windows.Parts(), plan.Part.HasValues):
		return fmt.Sprintf("the daemon only makes masks, with %d workers; try fewer columns of them",
			s.pool.Size())
	case f.Path == "": // of static values, and masks
		return fmt.Sprintf("the gather is limited by memory, with %d workers; try fewer static columns",
			s.pool.Size())
	}
	for _, p := range s.windows.Parts() {
		if c := convertedColumn(p); c != nil {
			return fmt.Sprintf(
				"the gather is limited by converting column %q from %s, try loading it as %s",
				c.Name, c.DType, p.DType)
		}
	}
	if s.windows.Handle.Data.Manifest.Layout == layout.Packed {
		return "the gather is limited by transposing packed rows, " +
			"try layout columns, or batches with channels last"
	}
	return "the gather is limited by interleaving columns, try layout packed"
}

// convertedColumn returns a column of a part that is stored as another dtype than it is delivered
// in, or nil.
func convertedColumn(p plan.Part) *layout.ManifestColumn {
	for _, c := range p.Columns {
		if p.HasValues() && c.DType.Plain() != p.DType {
			return c
		}
	}
	return nil
}
