package note

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// dateForm is a way to write times as integers.
type dateForm struct {
	name   string // what the integers may be
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
	{"months (year, month)", "%Y%m", `format="%Y%m"`, isMonth},
	{"seconds since 1970", "%s", `unit="s"`, sinceEpoch(1)},
	{"milliseconds since 1970", "", `unit="ms"`, sinceEpoch(1e3)},
	{"microseconds since 1970", "", `unit="us"`, sinceEpoch(1e6)},
	{"nanoseconds since 1970", "", `unit="ns"`, sinceEpoch(1e9)},
}

// isDate reports whether the digits of an integer are year, month and day, as 20240131.
func isDate(v int64) bool {
	year, month, day := int(v/10_000), time.Month(v/100%100), int(v%100)
	return year >= 1900 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
		(day <= 28 || time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() == day)
}

// isMonth reports whether the digits of an integer are year and month, as 202401.
func isMonth(v int64) bool {
	return v >= 1900_00 && v < 2100_00 && v%100 >= 1 && v%100 <= 12
}

func sinceEpoch(perSecond int64) func(int64) bool {
	return func(v int64) bool { return v >= from1980*perSecond && v < to2100*perSecond }
}

// dateNotes says which integers look like times: those of the time column or, if no column is the
// time, of a value column. Integers have many other meanings, so that a value column must have a
// name of times, or different dates. A column that the options columns or dtype name has no note.
func (t *Table) dateNotes(ctx context.Context, workers int) ([]layout.Note, error) {
	isTime := t.has(layout.RoleTime)
	for _, c := range t.maybeDates(isTime) {
		f, err := findForm(ctx, workers, c)
		if err != nil {
			return nil, err
		}
		if f.form != nil && (isTime || namesTime(c.Name) || f.form == &dateForms[0] && f.varies) {
			return []layout.Note{t.dateNote(c.Name, f, isTime)}, nil
		}
	}
	return nil, nil
}

// maybeDates returns the time column or, without one, the value columns: first those whose name says
// that they are times.
func (t *Table) maybeDates(isTime bool) []layout.ColumnWriter {
	role := layout.RoleValue
	if isTime {
		role = layout.RoleTime
	} else if t.Options.Melt != "" {
		return nil // times and series are apart
	}
	var named, others []layout.ColumnWriter
	for _, c := range t.Columns {
		switch {
		case c.Role != role || c.Width > 0 || t.Options.DType.By[c.Name] != "" ||
			slices.Contains(t.Options.Columns, c.Name) || slices.Contains(t.Folders, c.Name):
		case namesTime(c.Name):
			named = append(named, c)
		default:
			others = append(others, c)
		}
	}
	return append(named, others...)
}

// timeWords are words of the names that times often have.
var timeWords = []string{"t", "ts", "ds", "dt", "at", "time", "date", "datetime", "timestamp", "epoch",
	"month", "period"}

// namesTime reports whether a word of a column's name is one of times, as in event_date or eventTime.
func namesTime(name string) bool {
	var words strings.Builder
	wasLower := false
	for _, r := range name {
		if unicode.IsUpper(r) && wasLower || !unicode.IsLetter(r) {
			words.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			words.WriteRune(unicode.ToLower(r))
		}
		wasLower = unicode.IsLower(r)
	}
	return slices.ContainsFunc(strings.Fields(words.String()),
		func(word string) bool { return slices.Contains(timeWords, word) })
}

// found are the integers of a column.
type found struct {
	form   *dateForm // that all have; nil if they have none
	first  int64
	varies bool // they are not all the same
}

// findForm returns the form that all integers of a column have.
func findForm(ctx context.Context, workers int, c layout.ColumnWriter) (found, error) {
	switch c.DType {
	case layout.Int64:
		return findFormOf(ctx, workers, layout.Values[int64](c))
	case layout.Int32:
		return findFormOf(ctx, workers, layout.Values[int32](c))
	case layout.Uint64:
		return findFormOf(ctx, workers, layout.Values[uint64](c))
	case layout.Uint32:
		return findFormOf(ctx, workers, layout.Values[uint32](c))
	}
	return found{}, nil
}

func findFormOf[T int32 | int64 | uint32 | uint64](ctx context.Context, workers int,
	values layout.Strided[T]) (found, error) {
	if values.Rows == 0 {
		return found{}, nil
	}
	first := values.Data[0]
	for i := range dateForms {
		form := &dateForms[i]
		if !form.fits(int64(first)) {
			continue
		}
		var other, varies atomic.Bool
		err := eachRow(ctx, workers, values.Rows, func(row, end int64) {
			for ; row < end && !other.Load(); row++ {
				v := values.Data[row*values.Step]
				if !form.fits(int64(v)) {
					other.Store(true)
				}
				if v != first && !varies.Load() {
					varies.Store(true)
				}
			}
		})
		if err != nil || !other.Load() {
			return found{form, int64(first), varies.Load()}, err
		}
	}
	return found{}, nil
}

// dateNote says that the integers of a column look like times. isTime is true for the time column.
func (t *Table) dateNote(name string, f found, isTime bool) layout.Note {
	n := layout.Note{Field: "time", Detail: fmt.Sprintf(
		"column %s has integers that look like %s, such as %d", quote(name), f.form.name, f.first)}
	var options []string
	if isTime {
		n.Detail += ", and the load stores them as integers, not as times"
	} else {
		n.Detail += ", and `time` names no column"
		options = append(options, loaderr.Option("time", name))
	}
	n.Hint = fmt.Sprintf("if they are, convert them before the load, as pandas.to_datetime(…, %s) does",
		f.form.pandas)
	if f.form.format != "" && slices.Contains(t.Cells, name) {
		n.Hint = "if they are, load with " +
			strings.Join(append(options, loaderr.Option("time_format", f.form.format)), " and ")
	}
	return n
}
