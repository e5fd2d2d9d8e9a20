package step

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// filler gives the missing values of one feature of one item their values. It looks ahead in the source, which is still what it was
// there, and remembers what was behind.
type filler[S float32 | float64] struct {
	how       string
	value     float64 // of value and mean
	from      layout.Strided[S]
	feature   int64
	end       int64   // of the item
	before    float64 // the last value, NaN before the first
	beforeRow int64
	after     float64 // the first value at or after the row looked from, NaN behind the last
	afterRow  int64
	looked    bool // after is that of the present gap
}

func newFiller[S float32 | float64](f option.Fill, mean float64, from layout.Strided[S], feature, end int64) filler[S] {
	value := f.Value
	if f.How == option.FillMean {
		if value = mean; mean != mean {
			value = column.NaN
		}
	}
	return filler[S]{how: f.How, value: value, from: from, feature: feature, end: end, before: column.NaN}
}

// fill fills the values of rows from row on.
func (f *filler[S]) fill(values []float64, row int64) {
	if n := len(values); n > 0 && !anyMissing(values) {
		f.before, f.beforeRow, f.looked = values[n-1], row+int64(n)-1, false
		return
	}
	for i, v := range values {
		if v == v {
			f.before, f.beforeRow, f.looked = v, row+int64(i), false
			continue
		}
		switch f.how {
		case option.FillValue, option.FillMean:
			values[i] = f.value
		case option.FillForward:
			values[i] = f.before
		case option.FillBackward:
			f.look(row + int64(i))
			values[i] = f.after
		case option.FillLinear:
			f.look(row + int64(i))
			values[i] = f.line(row + int64(i))
		}
	}
}

// look finds the value after a gap, once for all its rows.
func (f *filler[S]) look(row int64) {
	if f.looked {
		return
	}
	f.looked, f.after = true, column.NaN
	for row++; row < f.end; row++ {
		if v := float64(f.from.Data[row*f.from.Step+f.feature]); v == v {
			f.after, f.afterRow = v, row
			return
		}
	}
}

// line is the value of a row on the line between those before and after the gap; behind the last value it is that, as in pandas. Beside
// infinite values it is what numpy.interp, which pandas asks, makes of them.
func (f *filler[S]) line(row int64) float64 {
	if f.after != f.after {
		return f.before
	}
	slope := (f.after - f.before) / float64(f.afterRow-f.beforeRow)
	v := slope*float64(row-f.beforeRow) + f.before
	if v != v {
		v = slope*float64(row-f.afterRow) + f.after
	}
	if v != v && f.before == f.after {
		return f.before
	}
	return v
}
