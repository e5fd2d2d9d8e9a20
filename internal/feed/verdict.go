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
	isPacked, wholeRows := s.windows.Handle.Data.Manifest.Layout == layout.Packed, takesRows(s.windows)
	isDilated := s.windows.Index.Spec().Dilation > 1
	switch {
	case isPacked && wholeRows && isDilated:
		return fmt.Sprintf("the gather is limited by copying row by row, with %d workers; "+
			"try fewer columns or a smaller dtype", s.pool.Size())
	case isPacked:
		return "the gather is limited by transposing packed rows, " +
			"try loading with `layout=\"columns\"`, or batches with channels last"
	case wholeRows && !isDilated:
		return "the gather is limited by interleaving columns; try loading with `layout=\"packed\"`, " +
			"from which windows of all columns are 1.2 to 2.3 times as fast"
	}
	return fmt.Sprintf("the gather is limited by interleaving columns, with %d workers; "+
		"try fewer columns or a smaller dtype", s.pool.Size())
}

// takesRows reports whether each part with values has all columns that layout packed puts in a row, in
// their order. Windows of some columns of packed rows are slower than those of columns.
func takesRows(w *plan.Windows) bool {
	for _, p := range w.Parts() {
		if !p.HasValues() {
			continue
		}
		var row []*layout.ManifestColumn
		for i := range w.Handle.Data.Manifest.Columns {
			c := &w.Handle.Data.Manifest.Columns[i]
			if c.Role == layout.RoleValue && c.DType.IsNumeric() && c.DType == p.Columns[0].DType {
				row = append(row, c)
			}
		}
		same := func(a, b *layout.ManifestColumn) bool { return a.Name == b.Name }
		if len(row) < 2 || !slices.EqualFunc(row, p.Columns, same) {
			return false
		}
	}
	return true
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
