// Package tsf reads .tsf files, the format of the Monash forecasting repository: one series a line,
// with its attributes before its values (https://forecastingdata.org).
//
// header.go reads the lines above @data. scan.go counts the values and checks the attributes of all
// series. items.go refuses series of one name. parse.go stores values and repeats attributes on several
// workers; frequency.go computes a time for each value.
//
// # Caveats
//
// A row is a value. The number of a row in errors is that of its series.
//
// A series may be longer than the memory of a worker: the scan divides the file into segments, each
// with values of one series.
package tsf

import (
	"context"
	"slices"
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/layout"
)

// Names of columns that are not attributes.
const (
	timeName  = "timestamp"
	valueName = "value"
)

// itemName is the attribute that names the series, if there is one.
const itemName = "series_name"

// file is the reader of a .tsf file.
type file struct {
	lines.File
	header
	names    []string
	segments []segment
	series   int64    // number of series
	values   int64    // number of values of all series
	decimals []bool   // by attribute: numeric ones that are not all integers
	hashes   []uint64 // of the attributes of a series, series by series
}

// segment is a part of the values of one series.
type segment struct {
	begin, end int64 // file offsets; the attributes are in the first segment of a series
	row0       int64 // row of its first value
	first      int64 // place of its first value in the series
	series     int64 // from 0
	line       int64 // from 1
	head       int64 // file offset of the attributes
	headBytes  int64 // with the last colon
}

// Open returns a reader of a .tsf file. It reads the whole file. Closing the reader closes f; if Open
// returns an error, the caller closes f.
func Open(path string, f *files.File, s source.Settings) (source.Reader, error) {
	t, err := lines.Open(path, f, s)
	if err != nil {
		return nil, err
	}
	x := &file{File: t}
	begin, line, err := x.readHeader()
	if err != nil {
		return nil, err
	}
	if err := x.scan(begin, line); err != nil {
		return nil, err
	}
	if len(x.segments) == 0 {
		return nil, &loaderr.SourceError{Path: path, Reason: "has no series", Hint: loaderr.HintEmpty}
	}
	return x, nil
}

// Names returns the names of the attributes but for that of the start, of the times, if the series have
// a start, and of the values.
func (f *file) Names() []string { return f.names }

// DefaultRoles returns the attribute that names the series, and the column of times.
func (f *file) DefaultRoles() (itemID []string, time string) {
	if slices.Contains(f.names, itemName) {
		itemID = []string{itemName}
	}
	if slices.Contains(f.names, timeName) {
		time = timeName
	}
	return itemID, time
}

// HintNames says how to name series.
func (f *file) HintNames() string {
	if attributes := f.possibleItems(); len(attributes) > 0 {
		return "name the series by attributes with " + f.itemOption(attributes)
	}
	return "give the series names in an @attribute " + itemName + " string"
}

// Describe returns the types of the wanted columns. It refuses two series whose attributes in the role
// of items are equal.
func (f *file) Describe(w []column.Want) ([]column.Column, error) {
	out, items := make([]column.Column, len(w)), []item(nil)
	for i, x := range w {
		c := column.Column{Name: f.names[x.Index], Inferred: true}
		a, isAttribute := f.attributeOf(x.Index)
		switch {
		case isAttribute:
			c.Kind, c.NamedOnly = f.kindOf(a), f.attributes[a].kind != stringAttribute
			if c.Kind == column.KindTime {
				c.Unit = "s"
			}
			if x.Text && c.Kind != column.KindTime {
				c.Kind = column.KindText
			}
			if x.Role == layout.RoleItemID {
				items = append(items, item{a, c.Kind == column.KindText})
			}
		case c.Name == timeName:
			c.Kind, c.Unit = column.KindTime, "s"
		default:
			c.Kind = column.KindFloat64
		}
		if x.Text && c.Kind != column.KindText {
			return nil, &loaderr.OptionError{Field: "dtype", Value: c.Name + "=text",
				Allowed: "a dtype of numbers for values, and none for times"}
		}
		out[i] = c
	}
	return out, f.checkItems(items)
}

// ReadRows parses the segments in parallel.
func (f *file) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	return f.Parse(ctx, func() lines.SpanParser { return newParser(f, to) }, m)
}

// SourceRows returns the number of series.
func (f *file) SourceRows() int64 { return f.series }

// SourceRow returns the number of the series, from 0, with a value.
func (f *file) SourceRow(row int64) int64 {
	s, _ := f.segmentOf(row)
	return s.series
}

// Line returns the line of the series with a value.
func (f *file) Line(row int64) int64 {
	s, _ := f.segmentOf(row)
	return s.line
}

// segmentOf returns the segment with a row, and its place.
func (f *file) segmentOf(row int64) (segment, int) {
	i := sort.Search(len(f.segments), func(i int) bool { return f.segments[i].row0 > row }) - 1
	return f.segments[i], i
}

// seriesSegment returns the first segment of a series.
func (f *file) seriesSegment(series int64) segment {
	i := sort.Search(len(f.segments), func(i int) bool { return f.segments[i].series >= series })
	return f.segments[i]
}

// attributeOf returns the place in the header of the attribute that is a column.
func (f *file) attributeOf(index int) (i int, ok bool) {
	i = slices.IndexFunc(f.attributes, func(a attribute) bool { return a.name == f.names[index] })
	return i, i >= 0
}

// kindOf returns the kind of an attribute's column.
func (f *file) kindOf(attribute int) column.Kind {
	switch {
	case f.attributes[attribute].kind == stringAttribute:
		return column.KindText
	case f.attributes[attribute].kind == dateAttribute:
		return column.KindTime
	case f.decimals[attribute]:
		return column.KindFloat64
	}
	return column.KindInt64
}
