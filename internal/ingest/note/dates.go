package note

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// dateForm is a way to write times as integers.
type dateForm struct {
	name   string // of what the integers may be
	format string // of the option time_format; "" if it has none
	pandas string // the parameter of pandas.to_datetime
	fits   func(v int64) bool
}

// Seconds since 1970 of 1980-01-01 and 2100-01-01. Integers outside are more likely something else.
const (
	from1980 = 315_532_800
	to2100   = 4_102_444_800
)

var dateForms = []dateForm{
	{"dates (year, month, day)", "%Y%m%d", `format="%Y%m%d"`, isDate},
	{"seconds since 1970", "%s", `unit="s"`, sinceEpoch(1)},
	{"milliseconds since 1970", "", `unit="ms"`, sinceEpoch(1e3)},
	{"microseconds since 1970", "", `unit="us"`, sinceEpoch(1e6)},
	{"nanoseconds since 1970", "", `unit="ns"`, sinceEpoch(1e9)},
}

// isDate reports whether the digits of an integer are year, month and day, as 20240131.
func isDate(v int64) bool {
	year, month, day := v/10_000, v/100%100, v%100
	return year >= 1900 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

func sinceEpoch(perSecond int64) func(int64) bool {
	return func(v int64) bool { return v >= from1980*perSecond && v < to2100*perSecond }
}

// dateNotes says which integers look like times: those of the time column or, if no column is the
// time, of value columns. Integers that count since 1970 have many other meanings, so that a value
// column must have a name of times.
func (t *Table) dateNotes(ctx context.Context, workers int) ([]layout.Note, error) {
	hasTime := t.has(layout.RoleTime)
	for _, c := range t.Columns {
		if c.Width > 0 || c.Role == layout.RoleItemID || hasTime && c.Role != layout.RoleTime {
			continue
		}
		var form *dateForm
		var first int64
		var err error
		switch c.DType {
		case layout.Int64:
			form, first, err = formOf(ctx, workers, layout.Values[int64](c))
		case layout.Int32:
			form, first, err = formOf(ctx, workers, layout.Values[int32](c))
		}
		if err != nil {
			return nil, err
		}
		if form != nil && (hasTime || form.format == dateForms[0].format || namesTime(c.Name)) {
			return []layout.Note{dateNote(c.Name, *form, first, hasTime)}, nil
		}
	}
	return nil, nil
}

// namesTime reports whether a column has a name that times often have.
func namesTime(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "t", "ts", "ds":
		return true
	}
	return strings.Contains(name, "time") || strings.Contains(name, "date") ||
		strings.Contains(name, "stamp") || strings.Contains(name, "epoch")
}

// formOf returns the form that all integers of a column have, and the first integer. It returns nil
// if they have none.
func formOf[T int32 | int64](ctx context.Context, workers int, values layout.Strided[T]) (
	*dateForm, int64, error) {
	if values.Rows == 0 {
		return nil, 0, nil
	}
	first := int64(values.Data[0])
	for i := range dateForms {
		form := &dateForms[i]
		if !form.fits(first) {
			continue
		}
		var other atomic.Bool
		err := eachRow(ctx, workers, values.Rows, func(row, end int64) {
			for ; row < end && !other.Load(); row++ {
				if !form.fits(int64(values.Data[row*values.Step])) {
					other.Store(true)
				}
			}
		})
		if err != nil || !other.Load() {
			return form, first, err
		}
	}
	return nil, 0, nil
}

// dateNote says that the integers of a column look like times. isTime is true for the time column.
func dateNote(name string, form dateForm, first int64, isTime bool) layout.Note {
	n := layout.Note{Field: "time", Detail: fmt.Sprintf(
		"column %s has integers that look like %s, such as %d", quote(name), form.name, first)}
	var options []string
	if isTime {
		n.Detail += ", and the load takes them for numbers"
	} else {
		n.Detail += ", and `time` names no column"
		options = append(options, loaderr.Option("time", name))
	}
	if form.format != "" {
		options = append(options, loaderr.Option("time_format", form.format))
		n.Hint = fmt.Sprintf("if they are, load CSV files with %s; convert other data before the "+
			"load, as pandas.to_datetime(…, %s) does", strings.Join(options, " and "), form.pandas)
		return n
	}
	n.Hint = fmt.Sprintf("if they are, convert them before the load, as pandas.to_datetime(…, %s) does",
		form.pandas)
	return n
}
