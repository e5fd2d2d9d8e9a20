package option

import "github.com/tensorcache/tensorcache/layout"

// AutoLayout is the value of [Options.Layout] that chooses between the two layouts.
const AutoLayout = "auto"

// PackedFrom is the number of columns of one dtype from which AutoLayout is packed. It is measured
// (docs/performance.md, Layouts), and a constant, so that a load has the same digest on every machine.
const PackedFrom = 32

// LayoutOf returns the layout of a generation with the given value columns of its sources. Of
// AutoLayout it is packed if a dtype has PackedFrom features or more (a column of shape [rows, n] has
// n), and no column that windows leave out by default: rows with such columns are not copied whole.
func (o Options) LayoutOf(columns []layout.Column) string {
	if o.Layout != AutoLayout {
		return o.Layout
	}
	features, leftOut := map[layout.DType]int64{}, map[layout.DType]bool{}
	for _, c := range o.CalendarLayout() {
		leftOut[c.DType] = true
	}
	for _, c := range columns {
		if c.Role == layout.RoleValue && c.DType.IsNumeric() {
			features[c.DType] += max(1, c.Width)
			leftOut[c.DType] = leftOut[c.DType] || c.NamedOnly
		}
	}
	for dtype, n := range features {
		if n >= PackedFrom && !leftOut[dtype] {
			return layout.Packed
		}
	}
	return layout.Columns
}
