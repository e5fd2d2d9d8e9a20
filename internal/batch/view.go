package batch

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// CheckView returns why batches of these windows cannot be strided views of the mapped columns, or
// nil. The error is a *wire.Problem.
func CheckView(w *plan.Windows, o sampler.Options) error {
	if !o.Traits().Consecutive {
		return noView(`order %q scatters windows, views need %s`, o.Order,
			sampler.OneOf(viewOrders())).WithHint(hintSlots)
	}
	spec := w.Index.Spec()
	if w.IsPadded() {
		return noView("min_context %d pads windows, and padding lies in no column",
			*spec.MinContext).WithHint(hintSlots)
	}
	if readsComputed(w) {
		return noView("%s", whyComputed).WithHint(hintSlots)
	}
	for _, p := range w.Parts() {
		if p.Of == plan.Static || !p.HasValues() {
			continue
		}
		for _, c := range p.Columns {
			if c.DType.Plain() != p.DType {
				return noView("column %q is stored as %s and asked for as %s", c.Name, c.DType,
					p.DType).WithHint("store the column with `dtype=\"%s\"` at the load, or "+
					"deliver it as it is stored with `dtype=null`", p.DType)
			}
			if spec.MissingValue != nil && c.Missing > 0 {
				return noView("missing_value %v would replace values of column %q",
					*spec.MissingValue, c.Name).WithHint("fill the column at the load with `fill`")
			}
		}
		if !evenlySpaced(p.Columns) {
			return noView("the %d columns of the %s do not lie evenly apart", len(p.Columns),
				p.Of).
				WithHint("load with `layout=\"packed\"`, " +
					"or name the columns in the order they are stored in")
		}
	}
	return nil
}

// readsComputed reports whether a part has known rows that are computed.
func readsComputed(w *plan.Windows) bool {
	isKnown := func(p plan.Part) bool { return p.Of == plan.Known }
	return w.KnownAfter() != nil && slices.ContainsFunc(w.Parts(), isKnown)
}

// whyComputed is why only the daemon has all rows of known.
const whyComputed = "the daemon computes the calendar columns of known after the end of items"

// hintSlots is the hint for windows that lie in no place of the mapped columns.
const hintSlots = "delivery \"slot\" gathers any windows"

func noView(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.InvalidSpec, "delivery: no view is possible: %s",
		fmt.Sprintf(format, args...)).WithField("delivery")
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

// evenlySpaced reports whether the features of columns of one dtype have a constant distance in
// each row, and rows too. Neighbours in a packed dataset do, and columns of layout "columns" that
// follow each other in the file.
func evenlySpaced(columns []*layout.ManifestColumn) bool {
	var offsets []int64
	for _, c := range columns {
		if c.Strides[0] != columns[0].Strides[0] {
			return false
		}
		for i := range max(c.Width(), 1) {
			offsets = append(offsets, c.Offset+i*c.DType.Size())
		}
	}
	for i := 2; i < len(offsets); i++ {
		if offsets[i]-offsets[i-1] != offsets[1]-offsets[0] {
			return false
		}
	}
	return len(offsets) < 2 || offsets[0] < offsets[1]
}
