package plan

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// Warnings says which columns batches have as infinity, or not exactly, because the dtype in which
// they are delivered does not hold the greatest stored values, and which columns of known and static
// have NaN although the spec admits no missing values.
func (w *Windows) Warnings() ([]wire.Warning, error) {
	out, err := w.uncounted()
	if err != nil {
		return nil, err
	}
	warned := map[string]bool{}
	for _, part := range w.parts {
		for _, c := range part.Columns {
			detail := narrowed(c, part.DType)
			if detail == "" || warned[detail] {
				continue
			}
			warned[detail] = true
			out = append(out, wire.Warning{Field: "dtype", Detail: detail,
				Hint: "deliver windows with `dtype=\"float64\"`, or scale the column at the load"})
		}
	}
	return out, nil
}

// narrowed says what a dtype loses of a column's values, "" if nothing that matters.
func narrowed(c *layout.ManifestColumn, to layout.DType) string {
	if c.Statistics == nil || c.Statistics.Min == nil || c.Statistics.Max == nil || c.DType == to {
		return ""
	}
	least, greatest := *c.Statistics.Min, *c.Statistics.Max
	value := greatest
	if math.Abs(least) > math.Abs(greatest) {
		value = least
	}
	limit, exact := math.Inf(1), math.Inf(1)
	switch to {
	case layout.Float32:
		limit, exact = math.MaxFloat32, 1<<24
	case layout.Float64:
		exact = 1 << 53
	}
	switch {
	case math.Abs(value) > limit:
		return fmt.Sprintf("column %q holds %v, which %s delivers as infinity", c.Name, value, to)
	case !c.DType.IsFloat() && math.Abs(value) > exact:
		return fmt.Sprintf("column %q holds %.0f, and %s delivers integers beyond %.0f inexactly",
			c.Name, value, to, exact)
	}
	return ""
}

// SplitWarnings says that the parts of a split by lengths need more rows than any item has.
func (w *Windows) SplitWarnings(split *window.Split) []wire.Warning {
	need := split.Purge * int64(max(len(split.Lengths)-1, 0))
	for _, length := range split.Lengths {
		if length == nil {
			return nil
		}
		need += *length
	}
	var longest int64
	for i := 1; i < len(w.Offsets); i++ {
		longest = max(longest, w.Offsets[i]-w.Offsets[i-1])
	}
	if len(split.Lengths) == 0 || need <= longest {
		return nil
	}
	return []wire.Warning{{Field: "lengths",
		Detail: fmt.Sprintf("lengths: the parts need %d rows, the longest item has %d: "+
			"the last rows are missing", need, longest),
		Hint: "give the last part the rest of the rows"}}
}
