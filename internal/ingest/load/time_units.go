package load

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// rescale converts the times or durations that a reader has written from row row0 on to another
// unit. It refuses a value that is not exact in that unit.
func rescale(r source.Reader, c column.Column, d layout.ColumnWriter, row0 int64, from,
	to string) error {
	by := textvalue.PerSecond(to) / textvalue.PerSecond(from)
	over := textvalue.PerSecond(from) / textvalue.PerSecond(to)
	values := layout.Values[int64](d)
	for row := range r.Rows() {
		cells := values.Row(row0 + row)
		for i, v := range cells {
			if by > 0 && v <= math.MaxInt64/by && v >= -(math.MaxInt64/by) {
				cells[i] = v * by
				continue
			}
			if by == 0 && v%over == 0 {
				cells[i] = v / over
				continue
			}
			text := fmt.Sprint(v, " ", from)
			if c.Kind == column.KindTime {
				text = textvalue.TimeText(v, from)
			}
			return &loaderr.SourceError{
				Path: r.Path(), Row: row + 1, Line: r.Line(row), Column: c.Name, Text: text,
				Reason: "is not a whole number of " + to + ", the dataset's unit, or outside its range",
				Hint:   loaderr.HintReload,
			}
		}
	}
	return nil
}

// sameInstants reports whether a column of times or durations has the type of the generation's
// column, but perhaps another unit.
func sameInstants(c column.Column, old *layout.ManifestColumn) bool {
	if c.Width != old.Width() {
		return false
	}
	if c.Kind == column.KindDuration {
		return old.DType == layout.Duration
	}
	return c.Kind == column.KindTime && old.DType == layout.Timestamp &&
		(c.Zone == "") == (old.Zone == "")
}
