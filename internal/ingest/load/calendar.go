package load

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/layout"
)

// calendarRows are the rows of calendar columns: their times and items.
type calendarRows struct {
	*rows.Keys
	offsets []int64         // the first row of each item, and the number of rows
	before  func(int) int64 // the number of an item's rows before these
	zone    *time.Location  // nil if it is not known, or if there are no timestamps
}

// calendarColumn is a calendar column, and its values.
type calendarColumn struct {
	calendar.Column
	name   string
	values layout.Strided[float32]
}

// addCalendar computes the calendar columns, which follow those of the sources, and finds the columns
// of the sources that are calendar columns of another generation. It returns the features of all, by
// column.
func (l *load) addCalendar(ctx context.Context, k *rows.Keys, offsets []int64) (map[string]string, error) {
	r := calendarRows{Keys: k, offsets: offsets, before: l.rowsBefore}
	zone, ok := timezone.Find(k.Clock.Zone)
	if ok && k.Clock.Kind == column.KindTime {
		r.zone = zone
	}
	columns, err := l.CalendarColumns()
	if err != nil {
		return nil, err
	}
	var fill []calendarColumn
	for i, c := range columns {
		if c.IsOfTime() && r.zone == nil {
			return nil, &loaderr.SourceError{
				Path: l.readers[0].Path(), Column: k.Clock.Name,
				Reason: fmt.Sprintf("its time zone %q is not known, which calendar needs",
					k.Clock.Zone),
			}
		}
		fill = append(fill, calendarColumn{c, c.Name,
			layout.Values[float32](l.writer.Column(len(l.columns)+i, layout.Random))})
	}
	copied, err := l.copiedCalendar(ctx, r)
	if err != nil {
		return nil, err
	}
	features := map[string]string{}
	for _, c := range slices.Concat(fill, copied) {
		features[c.name] = c.Name
	}
	if len(l.Regrid) > 0 { // the rows that it inserted have no values yet
		fill = append(fill, copied...)
	}
	return features, r.each(ctx, l.Workers, fill, func(row int64, computed [][]float32) {
		for i, values := range computed {
			to := &fill[i].values
			for k, v := range values {
				to.Data[(row+int64(k))*to.Step] = v
			}
		}
	})
}

// copiedCalendar returns the columns of the sources that are calendar columns of these rows. Options of
// all columns did not change a column that was sent as one. If it has other values, it is an ordinary
// column, and refused if such an option should have changed it.
func (l *load) copiedCalendar(ctx context.Context, r calendarRows) ([]calendarColumn, error) {
	var sent []calendarColumn
	for i, c := range l.columns {
		feature, ok := calendar.Of(c.Calendar)
		p := l.plans[i]
		switch {
		case !ok || l.wanted.roles[i] != layout.RoleValue || len(p.steps) > 0 || p.stored.DType != layout.Float32:
		case feature.IsOfTime() && r.zone == nil && l.wouldChange(c.Name):
			return nil, &loaderr.SourceError{Path: l.readers[0].Path(), Column: c.Name, Hint: hintCopyOfCalendar,
				Reason: fmt.Sprintf("is sent as calendar column %q, but these rows have no timestamps in a "+
					"known zone", c.Calendar)}
		case !feature.IsOfTime() || r.zone != nil:
			sent = append(sent, calendarColumn{feature, c.Name,
				layout.Values[float32](l.writer.Column(i, layout.Random))})
		}
	}
	first := make([]atomic.Int64, len(sent)) // 1 + the first row with another value
	err := r.each(ctx, l.Workers, sent, func(row int64, computed [][]float32) {
		for i, values := range computed {
			from := &sent[i].values
			for k, v := range values {
				at := row + int64(k)
				is := from.Data[at*from.Step]
				if inserted := is != is && len(l.Regrid) > 0; is != v && !inserted {
					lower(&first[i], at+1)
					break
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var same []calendarColumn
	for i, c := range sent {
		row := first[i].Load() - 1
		switch {
		case row < 0:
			same = append(same, c)
		case l.base != nil || l.wouldChange(c.name):
			return nil, l.refuseCalendar(r, c, row)
		}
	}
	return same, nil
}

// hintCopyOfCalendar is what to do with a column that is sent as a calendar column and is none.
const hintCopyOfCalendar = "put a copy of the column; a copy is no calendar column"

// lower sets a number to another one that is smaller. 0 is none.
func lower(n *atomic.Int64, to int64) {
	for {
		is := n.Load()
		if is != 0 && is <= to || n.CompareAndSwap(is, to) {
			return
		}
	}
}

// wouldChange reports whether an option of all columns would change the values of a column that was
// sent as a calendar column, if it were none.
func (l *load) wouldChange(name string) bool {
	i := slices.IndexFunc(l.columns, func(c column.Column) bool { return c.Name == name })
	c := l.columns[i]
	c.Calendar = ""
	p := planColumn(l.Options, c, l.wanted.roles[i])
	return len(p.steps) > 0 || p.changesDType
}

// refuseCalendar returns the error of a column that was sent as a calendar column, and has another
// value in a row.
func (l *load) refuseCalendar(r calendarRows, c calendarColumn, row int64) error {
	next, _ := slices.BinarySearch(r.offsets, row+1)
	inItem, want := row-r.offsets[next-1]+r.before(next-1), make([]float32, 1)
	r.values([]calendarColumn{c}).Of(&calendar.Clock{}, []int64{r.timeOf(row)}, inItem, [][]float32{want})
	e := &loaderr.SourceError{Path: l.readers[0].Path(), Column: c.name,
		Reason: fmt.Sprintf("is sent as calendar column %q, but has %v in row %d%s, where the feature is %v",
			c.Name, c.values.Data[row*c.values.Step], inItem, r.OfItem(row), want[0]),
		Hint: hintCopyOfCalendar}
	if l.base != nil {
		e.Hint = "append the values that a load of these rows with " +
			loaderr.Option("calendar", c.Name) + " has"
	}
	return e
}

// chunkRows is the greatest number of rows that each computes at a time.
const chunkRows = 1 << 10

// each calls a function for some rows at a time, from a row on, with the computed values of each calendar
// column. Several goroutines call the function.
func (r calendarRows) each(ctx context.Context, workers int, columns []calendarColumn,
	do func(row int64, values [][]float32)) error {
	if len(columns) == 0 {
		return nil
	}
	count, values := r.offsets[len(r.offsets)-1], r.values(columns)
	const block = 1 << 17
	return parallel.For(ctx, workers, int((count+block-1)/block), "", func(_, task int) error {
		var clock calendar.Clock
		times, buffer := make([]int64, chunkRows), make([]float32, int64(len(columns))*chunkRows)
		out := make([][]float32, len(columns))
		row, end := int64(task)*block, min(count, int64(task+1)*block)
		next, _ := slices.BinarySearch(r.offsets, row+1) // the item after that of the row
		for row < end {
			for row == r.offsets[next] {
				next++
			}
			item := next - 1
			n := min(chunkRows, end-row, r.offsets[next]-row)
			for k := range times[:n] {
				times[k] = r.timeOf(row + int64(k))
			}
			for i := range out {
				out[i] = buffer[int64(i)*chunkRows:][:n]
			}
			values.Of(&clock, times[:n], row-r.offsets[item]+r.before(item), out)
			do(row, out)
			row += n
		}
		return nil
	})
}

// values returns what computes the columns.
func (r calendarRows) values(columns []calendarColumn) *calendar.Values {
	features := make([]calendar.Column, len(columns))
	for i, c := range columns {
		features[i] = c.Column
	}
	return calendar.NewValues(features, r.Clock.Unit, r.zone)
}

// timeOf returns the time of a row, 0 if rows have none.
func (r calendarRows) timeOf(row int64) int64 {
	if r.Time == nil {
		return 0
	}
	return r.TimeOf(row)
}

// rowsBefore returns the number of an item's rows in the generation that its new rows are appended
// to.
func (l *load) rowsBefore(item int) int64 {
	if l.base == nil || l.base.Of[item] < 0 {
		return 0
	}
	code := l.base.Of[item]
	return l.base.Offsets[code+1] - l.base.Offsets[code]
}
