package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// timeParts replaces the columns that are the parts of a time by one column of timestamps.
type timeParts struct {
	Reader
	name   string // of the column of timestamps
	parts  []int  // columns of the source, in the order of column.TimeParts
	others []int  // the other columns of the source, before the time
	dir    string // of scratch files
	types  []column.Column
}

// WithTimeParts returns a reader that replaces the columns called parts by one column of timestamps
// in seconds. hides is true if a column of the source with its name is not wanted. dir is the
// directory of scratch files.
func WithTimeParts(r Reader, name string, parts []string, hides bool, dir string) (Reader, error) {
	t := &timeParts{Reader: r, name: name, dir: dir}
	names := r.Names()
	for i, part := range parts {
		at := slices.Index(names, part)
		if at < 0 {
			return nil, &loaderr.OptionError{Field: "time", Value: part, Column: true,
				Hint: loaderr.HintColumns(names)}
		}
		if slices.Contains(names[at+1:], part) {
			return nil, &loaderr.SourceError{Path: r.Path(), Column: part,
				Reason: fmt.Sprintf("is the name of several columns, want one for the %s",
					column.TimeParts[i])}
		}
		t.parts = append(t.parts, at)
	}
	for i, other := range names {
		switch {
		case slices.Contains(t.parts, i):
		case other != name:
			t.others = append(t.others, i)
		case !hides:
			return nil, &loaderr.SourceError{Path: r.Path(), Column: name,
				Reason: "has the name of the time that the columns " + strings.Join(parts, ", ") +
					" make",
				Hint: "leave it out with `columns`, or name it anew"}
		}
	}
	return t, nil
}

// Names returns the names of the other columns of the source, then that of the time.
func (t *timeParts) Names() []string {
	names := t.Reader.Names()
	out := make([]string, 0, len(t.others)+1)
	for _, i := range t.others {
		out = append(out, names[i])
	}
	return append(out, t.name)
}

// sourceWants returns the columns of the source for the wanted ones: the others, then the parts, if
// the time is wanted.
func (t *timeParts) sourceWants(w []column.Want) (wants []column.Want) {
	isTime := false
	for _, x := range w {
		if x.Index == len(t.others) {
			isTime = true
			continue
		}
		x.Index = t.others[x.Index]
		wants = append(wants, x)
	}
	for _, i := range t.parts {
		if isTime {
			wants = append(wants, column.Want{Index: i, Role: layout.RoleTime})
		}
	}
	return wants
}

// result returns the wanted columns, given those of the source.
func (t *timeParts) result(w []column.Want, columns []column.Column) []column.Column {
	out := make([]column.Column, len(w))
	for i, x := range w {
		if x.Index == len(t.others) {
			out[i] = column.Column{Name: t.name, Kind: column.KindTime, Unit: "s"}
			continue
		}
		out[i], columns = columns[0], columns[1:]
	}
	return out
}

// partError returns an error of the source in the words of a part: a reader of text expects times
// in one column.
func (t *timeParts) partError(err error) error {
	e := (*loaderr.SourceError)(nil)
	if !errors.As(err, &e) || e.Text == "" {
		return err
	}
	names := t.Reader.Names()
	for i, at := range t.parts {
		if names[at] == e.Column {
			e.Reason = "is not a whole number, want the " + column.TimeParts[i]
			e.Hint = hintPartsInText
		}
	}
	return err
}

// hintPartsInText is the hint for a part that is written in another way than as a whole number.
const hintPartsInText = "write the parts of a time as whole numbers: 1 for Jan or 1.0"

// partHint returns the hint for a column that does not have the type of a part.
func partHint(c column.Column) string {
	switch {
	case c.Kind == column.KindTime:
		return "a column of times needs no others: " + loaderr.Option("time", c.Name)
	case c.Kind.IsFloat():
		return "drop or fill the rows without a value, then cast the column to integers"
	}
	return "store the column as integers, as 1 for Jan"
}

// Describe returns the types of the wanted columns. It refuses parts that are not integers.
func (t *timeParts) Describe(w []column.Want) ([]column.Column, error) {
	wants := t.sourceWants(w)
	columns, err := t.Reader.Describe(wants)
	if err != nil {
		return nil, t.partError(err)
	}
	if t.types = nil; len(wants) >= len(w) {
		t.types = columns[len(columns)-len(t.parts):]
	}
	for i, c := range t.types {
		if !c.Kind.IsInteger() || c.Width > 0 {
			return nil, &loaderr.SourceError{
				Path: t.Path(), Column: c.Name,
				Reason: fmt.Sprintf("is %s, want whole numbers for the %s", c.Describe(),
					column.TimeParts[i]),
				Hint: partHint(c),
			}
		}
	}
	return t.result(w, columns), nil
}

// ReadRows makes the source write the other columns to their targets, and the parts to scratch. It
// writes the times from there.
func (t *timeParts) ReadRows(ctx context.Context, to []Target, m *progress.Meter) (err error) {
	wants := make([]column.Want, len(to))
	var times *Target
	var targets []Target
	for i := range to {
		if wants[i] = to[i].Want; to[i].Index == len(t.others) {
			times = &to[i]
			continue
		}
		other := to[i]
		other.Index = t.others[other.Index]
		targets = append(targets, other)
	}
	var scratch *column.Scratch
	if times != nil {
		table := layout.Table{Rows: t.Rows()}
		for _, c := range t.types {
			table.Columns = append(table.Columns, layout.Column{Name: c.Name, DType: layout.Int64})
		}
		if scratch, err = column.NewScratch(t.dir, table); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, scratch.Close()) }()
		for i, c := range t.types {
			targets = append(targets, Target{
				Want: column.Want{Index: t.parts[i], Role: layout.RoleTime}, Column: c,
				Dest: column.Sink{ColumnWriter: scratch.Column(i, layout.Random)},
			})
		}
	}
	err = t.Reader.ReadRows(ctx, targets, m)
	if wider := (*WidenError)(nil); errors.As(err, &wider) {
		return &WidenError{t.result(wants, wider.Columns)}
	}
	if err != nil || times == nil {
		return t.partError(err)
	}
	return t.writeTimes(ctx, scratch, *times)
}

// writeTimes writes the times that the parts in scratch make.
func (t *timeParts) writeTimes(ctx context.Context, scratch *column.Scratch, to Target) error {
	parts := make([]layout.Strided[int64], len(t.parts))
	for i := range parts {
		parts[i] = layout.Values[int64](scratch.Column(i, layout.Random))
	}
	block := make([]int64, 0, column.BlockRows)
	for row0 := int64(0); row0 < t.Rows(); row0 += column.BlockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		block = block[:0]
		for row := row0; row < min(row0+column.BlockRows, t.Rows()); row++ {
			values := [len(column.TimeParts)]int64{1: 1, 2: 1}
			for i, p := range parts {
				values[i] = p.Data[row*p.Step]
			}
			at, wrong := seconds(values)
			if wrong >= 0 {
				least, most := partBounds(values, wrong)
				return &loaderr.SourceError{
					Path: t.Path(), Row: row + 1, Line: t.Line(row), Column: t.types[wrong].Name,
					Text: fmt.Sprint(values[wrong]),
					Reason: fmt.Sprintf("is no %s, want %d to %d", column.TimeParts[wrong], least,
						most) + monthText(values, wrong),
					Hint: "correct the cell, or name the columns in the order " +
						strings.Join(column.TimeParts[:], ", "),
				}
			}
			block = append(block, at)
		}
		if bad := column.Write(to.Dest, to.Row0+row0, block); bad >= 0 {
			return to.RangeError(row0+int64(bad)+1, block[bad])
		}
	}
	return nil
}

// monthText returns what a wrong day lies in.
func monthText(values [len(column.TimeParts)]int64, wrong int) string {
	if column.TimeParts[wrong] != "day" {
		return ""
	}
	return fmt.Sprintf(" in %s %d", time.Month(values[1]), values[0])
}

// partBounds returns the least and the greatest value of a part. The parts before it are right. Two
// digits of a year do not say which century is meant.
func partBounds(values [len(column.TimeParts)]int64, part int) (least, most int64) {
	switch column.TimeParts[part] {
	case "year":
		return 100, 9999
	case "month":
		return 1, 12
	case "day":
		// day 0 of the next month is the last one of this
		last := time.Date(int(values[0]), time.Month(values[1])+1, 0, 0, 0, 0, 0, time.UTC)
		return 1, int64(last.Day())
	case "hour":
		return 0, 23
	}
	return 0, 59
}

// seconds returns a time in seconds since 1970. wrong is the first part that is out of its bounds,
// or -1.
func seconds(values [len(column.TimeParts)]int64) (at int64, wrong int) {
	for i, v := range values {
		if least, most := partBounds(values, i); v < least || v > most {
			return 0, i
		}
	}
	return time.Date(int(values[0]), time.Month(values[1]), int(values[2]), int(values[3]),
		int(values[4]), int(values[5]), 0, time.UTC).Unix(), -1
}
