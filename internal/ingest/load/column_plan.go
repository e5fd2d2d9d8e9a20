package load

import (
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// columnPlan is what the load does to a column: its steps, where it is read to, and what it is
// stored as.
type columnPlan struct {
	steps  option.Steps
	stored layout.Column // in the result
	asked  layout.DType  // the dtype that the options ask for, "" for none

	// inScratch is true if the column is read into scratch as readAs. Its values are converted, or
	// its steps applied, when they move to the result.
	inScratch bool
	readAs    layout.Column

	// changesDType is true if the column has no steps, but the options ask for another dtype than
	// it has in the source.
	changesDType bool
	// convertedLater is true if changesDType is, and the column is read with the dtype of the
	// source first: see mustReadFirst.
	convertedLater bool
	// integers is true if values and results are integers or booleans, but pass through floats.
	integers bool
}

// planColumn returns the plan of a column with a role.
func planColumn(o option.Options, c column.Column, role layout.Role) columnPlan {
	p := columnPlan{steps: o.StepsOf(c, role), asked: o.DType.Of(c)}
	p.stored = layout.Column{Name: c.Name, Role: role, DType: c.Kind.DType(), Width: c.Width,
		Unit: c.Unit, Zone: c.Zone, NamedOnly: c.NamedOnly, PartOfFilled: c.PartOfFilled}
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
	p.changesDType = p.asked != "" && role == layout.RoleValue && len(p.steps) == 0 &&
		to != c.Kind.DType()
	p.convertedLater = p.changesDType && p.mustReadFirst(o, c)
	p.readAs = layout.Column{Name: c.Name, DType: c.Kind.DType(), Width: c.Width}
	if p.inScratch = p.convertedLater; p.inScratch && c.IsBool() && c.Nullable {
		p.readAs.DType, p.integers = layout.Float64, !to.IsFloat()
	}
	if len(p.steps) > 0 && !p.computedInPlace(c) {
		p.inScratch, p.readAs.DType = true, layout.Float64
	}
	return p
}

// mustReadFirst reports whether a column that changes its dtype is read with the dtype of the
// source and converted afterwards. This is necessary for columns of text files, because cells are
// parsed to few dtypes only, and inserted rows may turn integers into floats. It is also necessary
// for filtered floats, because the recorded error counts only the rows that the filters select.
func (p columnPlan) mustReadFirst(o option.Options, c column.Column) bool {
	if c.Width == 0 && o.Filters() &&
		(c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) {
		return true
	}
	readsFloats := c.Kind == column.KindFloat64 || c.Kind == column.KindUnknown
	return (c.Inferred || c.Mixed) &&
		(len(o.Regrid) > 0 || !(p.stored.DType == layout.Float32 && readsFloats))
}

// computedInPlace reports whether the dtype of the result represents the values before the steps
// exactly, so that the column is read into the result.
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
	l.capitals = make([]atomic.Bool, len(columns))
	for i, c := range columns {
		l.setColumn(i, c)
	}
}

// setColumn sets one column, and plans it anew. Rows are appended to a calendar column as to one.
func (l *load) setColumn(i int, c column.Column) {
	if l.base != nil {
		c.Calendar = l.base.calendarOf(c.Name)
	} else if c.Kind != column.KindFloat32 || c.Width > 0 {
		c.Calendar = "" // the column has other values than a calendar column
	}
	l.columns[i], l.plans[i] = c, planColumn(l.Options, c, l.wanted.roles[i])
}
