package step

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// fill gives missing values a value. It reads ahead in the source, whose later values no step has
// changed yet.
type fill struct {
	option.Fill
	run *columnRun

	means   []float64          // of fill mean, by fit
	missing *layout.BeforeFill // the cells that were missing; nil if none was

	series    series
	value     float64 // of value and mean
	before    float64 // the last value, NaN before the first
	beforeRow int64
	after     float64 // the first value after the present gap, NaN if there is none
	afterRow  int64
	searched  bool // after is that of the present gap
}

func newFill(r *columnRun, s option.Setting) Step { return &fill{Fill: s.(option.Fill), run: r} }

// fit finds the missing values and, for fill mean, the means of the fit rows.
func (f *fill) fit(ctx context.Context, before []Step) (err error) {
	if f.missing, err = f.run.findMissing(ctx); err != nil || f.How != option.FillMean {
		return err
	}
	var old [][]float64
	if c := f.run.old; c != nil && c.Prepared != nil {
		old = [][]float64{c.Prepared.FillValue}
	}
	fitted, err := f.run.fitted(old, func() ([][]float64, error) {
		means, err := f.fitMeans(ctx, before)
		return [][]float64{means}, err
	})
	if err == nil && fitted != nil {
		f.means = fitted[0]
	}
	return err
}

// fitMeans returns the means of the fit rows.
func (f *fill) fitMeans(ctx context.Context, before []Step) ([]float64, error) {
	fits, err := f.run.fitMoments(ctx, before)
	if err != nil {
		return nil, err
	}
	means := make([]float64, len(fits))
	for slot, m := range fits {
		if means[slot] = m.Mean; m.N == 0 {
			means[slot] = column.NaN
		}
		if !f.run.isFit(m, slot, means[slot]) {
			return nil, f.run.noFitError(ctx, before, m, slot,
				"choose other rows to fit on, or leave the column out with `columns`")
		}
	}
	return means, nil
}

func (f *fill) isIdle() bool { return f.missing == nil }

func (f *fill) begin(s series) {
	f.series, f.before, f.searched = s, column.NaN, false
	if f.value = f.Value; f.How == option.FillMean {
		if f.value = column.NaN; f.means != nil && f.means[s.slot] == f.means[s.slot] {
			f.value = f.means[s.slot]
		}
	}
}

func (f *fill) resume(s series, last float64) float64 {
	f.before, f.beforeRow = last, s.first-1
	return last
}

func (f *fill) apply(to, from []float64, row int64) error {
	copy(to, from)
	if n := len(to); n > 0 && !anyMissing(to) {
		f.before, f.beforeRow, f.searched = to[n-1], row+int64(n)-1, false
		return nil
	}
	for i, v := range to {
		if v == v {
			f.before, f.beforeRow, f.searched = v, row+int64(i), false
			continue
		}
		switch f.How {
		case option.FillValue, option.FillMean:
			to[i] = f.value
		case option.FillForward:
			to[i] = f.before
		case option.FillBackward:
			f.search(row + int64(i))
			to[i] = f.after
		case option.FillLinear:
			f.search(row + int64(i))
			to[i] = f.line(row + int64(i))
		}
	}
	return nil
}

// search finds the value after a gap, once for all its rows.
func (f *fill) search(row int64) {
	if f.searched {
		return
	}
	v, at, ok := f.run.source.nextPresent(int64(f.series.feature), row+1, f.series.end)
	if f.searched, f.after, f.afterRow = true, v, at; !ok {
		f.after = column.NaN
	}
}

// line returns the value of a row on the line between the values before and after the gap. After
// the last value of the item it is that value, as in pandas. Next to infinite values it is that of
// numpy.interp, which pandas calls.
func (f *fill) line(row int64) float64 {
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

// whyMissing returns why a filled value may be missing, and what to do.
func (f *fill) whyMissing() (reason, hint string) {
	name := f.run.Column.Name
	hint = "fill with a number, or store floats with " +
		loaderr.ColumnOption("fill", name, "linear")
	if f.run.Column.Kind == column.KindBool {
		hint = "fill with 0 or 1: " + loaderr.ColumnOption("fill", name, 0)
	}
	return fmt.Sprintf("the value is missing and %s finds none to fill with", f.How), hint
}

func (f *fill) record(r *Result) {
	p := r.prepared()
	p.Fill, p.Before = f.How, f.missing
	switch {
	case f.How == option.FillValue:
		p.FillValue = layout.Floats{f.Value}
	case f.means != nil:
		p.FillValue, p.FillPer = f.means, f.run.Per
	}
}

func describeFill(c *layout.ManifestColumn) string {
	if c.Prepared == nil || c.Prepared.Fill == "" {
		return ""
	}
	return "fill " + c.Prepared.Fill
}

// joinFill adds the means of new items.
func joinFill(j *join) {
	if p := j.old.Prepared; p != nil && p.FillPer == option.ScalePerItem {
		j.result.Prepared.FillValue = j.extended(p.FillValue, j.added.Prepared.FillValue)
	}
}
