package load

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// columnPlan is what the load does to a column: its steps, where it is read to, and what it is
// stored as.
type columnPlan struct {
	role   layout.Role
	steps  option.Steps
	stored layout.Column // in the result
	asked  layout.DType  // the dtype that the options ask for, "" for none

	// apart means that the column is read into scratch as readAs, and moved to the result later.
	apart  bool
	readAs layout.Column

	// no steps, but stored as another dtype than it has, because the options ask for it
	narrowed  bool
	converted bool // narrowed, and read as it is first
	integers  bool // it has steps, and values and results are integers or truth values
}

// planColumn returns the plan of a column with a role.
func planColumn(o option.Options, c column.Column, role layout.Role) columnPlan {
	p := columnPlan{role: role, steps: o.StepsOf(c, role), asked: o.DType.Of(c)}
	p.stored = layout.Column{Name: c.Name, Role: role, DType: c.Kind.DType(), Width: c.Width,
		Unit: c.Unit, Zone: c.Zone}
	if role == layout.RoleTime && c.Kind.IsInteger() || role == layout.RoleItemID &&
		c.Kind == column.KindUint64 {
		p.stored.DType = layout.Int64
	}
	if p.asked != "" && role == layout.RoleValue {
		p.stored.DType = p.asked
	}
	p.stored.DType = p.steps.StoredAs(p.stored.DType, o.DType.Named(c.Name))
	to := p.stored.DType
	p.integers = o.StaysWhole(c, role)
	p.narrowed = p.asked != "" && role == layout.RoleValue && len(p.steps) == 0 &&
		to != c.Kind.DType()
	p.converted = p.narrowed && p.readsFirst(o, c)
	p.readAs = layout.Column{Name: c.Name, DType: c.Kind.DType(), Width: c.Width}
	if p.apart = p.converted; len(p.steps) > 0 && !p.computedInPlace(c) {
		p.apart, p.readAs.DType = true, layout.Float64
	}
	return p
}

// readsFirst reports whether a narrowed column is read as it is and converted afterwards. Cells of
// a text file are read as few dtypes only, and inserted rows may turn its integers into floats. The
// error of narrowing counts only the rows that the filters select.
func (p columnPlan) readsFirst(o option.Options, c column.Column) bool {
	if c.Width == 0 && o.Filters() &&
		(c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) {
		return true
	}
	readsFloats := c.Kind == column.KindFloat64 || c.Kind == column.KindUnknown
	return c.Inferred &&
		(len(o.Regrid) > 0 || !(p.stored.DType == layout.Float32 && readsFloats))
}

// computedInPlace reports whether the result holds the values before the steps exactly, so that the
// column is read into it.
func (p columnPlan) computedInPlace(c column.Column) bool {
	if p.stored.DType == layout.Float32 {
		switch c.Kind {
		case column.KindFloat16, column.KindFloat32, column.KindInt8, column.KindInt16,
			column.KindUint8, column.KindUint16:
			return true
		}
	}
	return p.stored.DType == layout.Float64
}

// setColumns sets the columns of the sources, and plans them.
func (l *load) setColumns(columns []column.Column) {
	l.columns, l.plans = columns, make([]columnPlan, len(columns))
	for i, c := range columns {
		l.setColumn(i, c)
	}
}

// setColumn sets one column, and plans it anew.
func (l *load) setColumn(i int, c column.Column) {
	l.columns[i], l.plans[i] = c, planColumn(l.Options, c, l.wanted.roles[i])
}
