package load

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/layout"
)

// allowInsertedRows refuses inserted rows if a value column has a dtype without missing values.
// Integers of a text file become floats, as if a cell were missing.
func (l *load) allowInsertedRows(added int64) error {
	for i, c := range l.columns {
		d := l.destination(i)
		switch {
		case l.wanted.roles[i] != layout.RoleValue || d.DType == layout.Text || d.DType.IsFloat():
		case c.Inferred && d.DType == layout.Int64 && fitFloat64(layout.Values[int64](d)):
			c.Kind = column.KindFloat64
			if l.setColumn(i, c); l.plans[i].changesDType {
				l.losses[i] = &column.Loss{}
			}
		default:
			hint := fmt.Sprintf(
				"fill it with %s, or store it as floats with %s",
				loaderr.ColumnOption("fill", c.Name, "forward"),
				loaderr.ColumnOption("dtype", c.Name, "float32"))
			if c.IsBool() && c.Cells {
				hint += ", or " + column.HintText(c)
			}
			if c.Kind == column.KindTime || c.Kind == column.KindDuration {
				hint = "leave the column out with `columns`"
			}
			return &loaderr.SourceError{
				Path: l.readers[0].Path(), Column: c.Name, Hint: hint,
				Reason: fmt.Sprintf(
					"is %s, which has no missing values, and regrid inserts %s",
					d.DType, loaderr.Count(int(added), "row")),
			}
		}
	}
	return nil
}

// fitFloat64 reports whether float64 represents all integers of a column exactly.
func fitFloat64(v layout.Strided[int64]) bool {
	const most = 1 << 53
	for row := range v.Rows {
		for _, n := range v.Row(row) {
			if n > most || n < -most {
				return false
			}
		}
	}
	return true
}

// regridText returns the step of regrid, "" without regrid.
func (l *load) regridText() string {
	s, err := l.RegridStep()
	if err != nil || s == nil {
		return ""
	}
	return s.String()
}

// writeInsertedKeys writes the item and the time of inserted rows, after the rows are at their
// places.
func (l *load) writeInsertedKeys(m *rows.Map, offsets []int64, step int64) {
	for i := range l.columns {
		switch l.wanted.roles[i] {
		case layout.RoleTime:
			rows.CompleteTimes(m, offsets, l.destination(i), step)
		case layout.RoleItemID:
			rows.CompleteItems(m, offsets, l.destination(i))
		}
	}
}

// gridStep returns the step of regrid in the time column's unit, 0 without regrid.
func (l *load) gridStep(clock column.Column) (int64, error) {
	s, err := l.RegridStep()
	if err != nil || s == nil {
		return 0, err
	}
	unit := ""
	if clock.Kind == column.KindTime {
		unit = clock.Unit
	}
	v, ok := s.In(unit)
	switch {
	case ok:
		return v, nil
	case unit == "":
		return 0, (&loaderr.OptionError{Field: "regrid",
			Allowed: "an integer: the time column holds integers"}).WithJSON(l.Options.Regrid)
	}
	return 0, (&loaderr.OptionError{Field: "regrid",
		Allowed: "a multiple of 1" + unit + ", the unit of the time column",
	}).WithJSON(l.Options.Regrid)
}
