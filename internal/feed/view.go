package feed

import (
	"fmt"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// checkView returns why batches of these windows cannot be strides over the mapped columns, or nil.
// The problem names what stands in the way.
func (w *Windows) checkView(o sampler.Options) error {
	if !o.Traits().Consecutive {
		return noView(`order %q scatters windows, views need %s`, o.Order,
			sampler.OneOf(viewOrders()))
	}
	spec := w.Index.Spec()
	if w.padded() {
		return noView("min_context %d pads windows, and padding lies in no column",
			*spec.MinContext)
	}
	for _, part := range []string{"context", "target", "known"} {
		columns := w.chosen.parts()[part]
		for _, c := range columns {
			if c.DType.Plain() != w.chosen.dtype[part] {
				return noView("column %q is stored as %s and asked for as %s", c.Name, c.DType,
					w.chosen.dtype[part])
			}
			if spec.MissingValue != nil && c.Missing > 0 {
				return noView("missing_value %v would replace values of column %q",
					*spec.MissingValue, c.Name)
			}
		}
		if !evenlyApart(columns) {
			return noView("the %d columns of the %s do not lie evenly apart", len(columns), part).
				WithHint("load with layout=packed, or name the columns in the order they are stored in")
		}
	}
	return nil
}

// viewOrders returns the quoted names of the orders whose batches can be views.
func viewOrders() (names []string) {
	for _, name := range sampler.Orders() {
		if (sampler.Options{Order: name}).Traits().Consecutive {
			names = append(names, strconv.Quote(name))
		}
	}
	return names
}

// converted is a column of the context that is stored as another dtype than it is delivered in; nil
// when none is.
func (w *Windows) converted() *layout.ManifestColumn {
	for _, c := range w.chosen.context {
		if c.DType.Plain() != w.chosen.dtype["context"] {
			return c
		}
	}
	return nil
}

func noView(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.InvalidSpec, "delivery: no view is possible: %s",
		fmt.Sprintf(format, args...)).WithField("delivery")
}

// padded tells whether the spec admits windows that reach back before an item's first row.
func (w *Windows) padded() bool {
	spec := w.Index.Spec()
	return spec.MinContext != nil && *spec.MinContext < spec.ContextLength
}

// evenlyApart tells whether the features of columns of one dtype lie a constant distance apart in
// each row, and rows too: so do neighbours of a packed block, and columns of layout "columns" that
// follow each other in the file.
func evenlyApart(columns []*layout.ManifestColumn) bool {
	var places []int64
	for _, c := range columns {
		if c.Strides[0] != columns[0].Strides[0] {
			return false
		}
		for i := range max(c.Width(), 1) {
			places = append(places, c.Offset+i*c.DType.Size())
		}
	}
	for i := 2; i < len(places); i++ {
		if places[i]-places[i-1] != places[1]-places[0] {
			return false
		}
	}
	return len(places) < 2 || places[0] < places[1]
}
