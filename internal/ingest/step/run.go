// Package step does the steps of a column, in their order: fill, clip, log1p, diff and scale.
//
// [Run] finds what was missing, fits what is to be fitted, and writes the results, a tile of [TileRows]
// rows at a time. What is fitted is the same to the last bit however the rows were read, and on however
// many workers. The package knows columns and nothing of files.
package step

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// Input is one column, its steps, and what they may know.
type Input struct {
	Column   column.Column
	Steps    option.Steps
	Integers bool   // the values are integers or truth values, and so are the results
	Per      string // what fits are for: option.ScalePerColumn or option.ScalePerItem

	Keys    *rows.Keys
	Offsets []int64 // the items' first rows, and the number of rows
	Fit     *FitRows
	Place   rows.Locator // of a row of the result
	Path    string       // the first source, for messages about the whole column
	Base    *Base        // nil unless rows are appended

	Scratch *layout.ColumnWriter                       // float64 values before the steps; nil if the result holds them
	Result  func(mode layout.Mode) layout.ColumnWriter // opens the column of the result
	Tiles   *TileMoments                               // of the values as they were read; nil if they were not seen
	Loss    *column.Loss                               // of narrowing the results; nil unless a dtype is asked for
}

// preparation is the steps of one column while they are done, and what they were fitted to.
type preparation struct {
	Input
	seen    *moments.Moments   // of all values before the steps; nil if they were not measured
	full    bool               // nothing is to be filled
	means   []float64          // of fill mean, by feature or by item and feature
	scale   *layout.Scale      // nil without one
	missing *layout.BeforeFill // nil if nothing was to be filled
	firsts  []float64          // of diff, by item and feature: what the first difference is above; nil without
	lasts   []float64          // likewise: the last value
}

// maxFirsts is of how many items and features the values that differences begin at are kept in the manifest.
const maxFirsts = 1 << 16

// Run does the steps of a column and returns what the manifest says of them; scale is nil without
// a scaling. The error is a [loaderr.SourceError] or of ctx.
func Run(ctx context.Context, in Input) (*layout.Prepared, *layout.Scale, error) {
	p := &preparation{Input: in}
	if err := p.run(ctx); err != nil {
		return nil, nil, err
	}
	return p.prepared(), p.scale, nil
}

func (p *preparation) run(ctx context.Context) error {
	from := p.Result(layout.Random)
	mode := layout.ReadRewrite
	switch {
	case p.Scratch != nil && from.Dense():
		mode = layout.WriteOnce
	case p.readOnce():
		mode = layout.Rewrite
	}
	to := p.Result(mode) // before the values are read: see layout.ReadRewrite
	if mode == layout.WriteOnce {
		to = to.Buffered()
	}
	if p.Scratch != nil {
		return prepare(ctx, p, layout.Values[float64](*p.Scratch), to)
	}
	if to.DType == layout.Float32 {
		return prepare(ctx, p, layout.Values[float32](from), to)
	}
	return prepare(ctx, p, layout.Values[float64](from), to)
}

// prepare fits and then writes a column. from and to may be the same.
func prepare[S float32 | float64](ctx context.Context, p *preparation, from layout.Strided[S], to layout.ColumnWriter) error {
	if p.Steps.Fill.How != "" {
		if err := noteMissing(ctx, p, from); err != nil {
			return err
		}
	}
	if p.Steps.Fill.How == option.FillMean && !p.keeps() {
		if err := fitMeans(ctx, p, from); err != nil {
			return err
		}
	}
	p.takeOver(int(from.Width))
	if p.Steps.Scale != "" && !p.keeps() {
		if err := fitScale(ctx, p, from); err != nil {
			return err
		}
	}
	p.takeOver(int(from.Width))
	if n := int64(len(p.Offsets)-1) * from.Width; p.Steps.Diff && n <= maxFirsts {
		p.firsts, p.lasts = make([]float64, n), make([]float64, n)
	}
	return writeSteps(ctx, p, from, to)
}

// slot is where the fit of an item's feature stands among all.
func (p *preparation) slot(item, feature, width int) int {
	if p.Per == option.ScalePerItem {
		return item*width + feature
	}
	return feature
}

// fitsAll reports whether there is one fit, of every row.
func (p *preparation) fitsAll() bool {
	return (p.Per != option.ScalePerItem || len(p.Offsets) == 2) && p.Fit.all(p.Offsets)
}

// readOnce reports whether nearly all values are read only while the results are written, because they were measured before. The pages
// of the results are then made writable piece by piece.
func (p *preparation) readOnce() bool {
	rest := p.Steps
	rest.Fill, rest.Scale = option.Fill{}, ""
	return rest == (option.Steps{}) && p.Steps.Scale != option.ScaleRobust && p.fitsAll() && p.Tiles.whole()
}

// needed are those of the steps that may change a value of the column.
func (p *preparation) needed(s option.Steps) option.Steps {
	s.Scale = ""
	if p.full {
		s.Fill = option.Fill{}
	}
	return s
}

// each calls f with the values of every item and feature after the steps before scaling, a tile at a time; row is that of the first
// value. f may change them where the fit is of a sample. Rows of an item from its until on may be left out.
func each[S float32 | float64](ctx context.Context, p *preparation, s option.Steps, from layout.Strided[S], until []int64, f func(item, feature int, values []float64, row int64) error) error {
	c := chain[S]{from: from, Steps: p.needed(s), own: p.Fit.sampled != nil, whole: p.Integers}
	width := int(from.Width)
	for item := range len(p.Offsets) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for feature := range width {
			mean := math.NaN()
			if p.means != nil {
				mean = p.means[p.slot(item, feature, width)]
			}
			c.begin(int64(feature), p.Offsets[item], p.Offsets[item+1], mean)
			resume(&c, p, item)
			for c.row < until[item] {
				row := c.row
				values, bad := c.next()
				if bad >= 0 && p.Integers {
					return p.tooLarge(row+int64(bad), values[bad])
				}
				if bad >= 0 {
					return p.noLog(row+int64(bad), values[bad])
				}
				if err := f(item, feature, values, row); err != nil {
					return err
				}
			}
			if p.firsts != nil {
				p.firsts[item*width+feature], p.lasts[item*width+feature] = c.first, c.last
			}
		}
	}
	return nil
}

// known are the moments of what is scaled, where all of it was measured, else the zero value.
func (p *preparation) known() moments.Moments {
	if p.seen == nil || p.needed(p.Steps) != (option.Steps{}) {
		return moments.Moments{}
	}
	return *p.seen
}

// noLog refuses a value without a logarithm.
func (p *preparation) noLog(row int64, v float64) error {
	e := p.Place(row)
	e.Column, e.Reason = p.Column.Name, fmt.Sprintf("log1p needs values above -1, this is %v", v)
	e.Hint = "clip the column first with --clip " + p.Column.Name + "=0:"
	return &e
}

// writeSteps does all steps and stores the values.
func writeSteps[S float32 | float64](ctx context.Context, p *preparation, from layout.Strided[S], to layout.ColumnWriter) error {
	width := int(from.Width)
	results := resultsTo(to)
	err := each(ctx, p, p.Steps, from, p.Offsets[1:], func(item, feature int, before []float64, row int64) error {
		values := results.room(row, len(before))
		if p.scale != nil {
			at := p.slot(item, feature, width)
			moments.Scale(values, before, moments.NewScaling(p.scale.Shift[at], p.scale.Scale[at], p.known()))
		} else {
			copy(values, before)
		}
		bad := column.Overflows(to.DType, values)
		if bad < 0 && p.Integers {
			bad = column.FirstRounded(to.DType, values)
		}
		if bad < 0 {
			bad = results.put(feature, row, values)
		}
		if bad >= 0 {
			return p.notHeld(row+int64(bad), values[bad], to.DType)
		}
		if p.Loss != nil && to.DType != layout.Float64 { // which loses nothing
			column.NoteResults(p.Loss, to.DType, values)
		}
		return nil
	})
	to.Close()
	return err
}

// notHeld refuses a result that its column cannot hold.
func (p *preparation) notHeld(row int64, v float64, to layout.DType) error {
	e := p.Place(row)
	e.Column = p.Column.Name
	switch {
	case v != v && p.Steps.Diff:
		e.Reason, e.Hint = "the difference is missing, which only a float column can say", "store the differences as floats: leave the column out of --dtype"
	case v != v:
		e.Reason, e.Hint = fmt.Sprintf("the value is missing and %s finds none to fill with", p.Steps.Fill.How), "fill with a number, or store floats with --fill "+p.Column.Name+"=linear"
		if p.Column.Kind == column.KindBool {
			e.Hint = "fill with 0 or 1: --fill " + p.Column.Name + "=0"
		}
		if p.Steps.Fill.How == "" {
			e.Reason, e.Hint = "the value is missing, which only a float column can say", "fill it with --fill "+p.Column.Name+"=0"
		}
	case v == math.Trunc(v) && math.Abs(v) < column.ExactIntegers:
		e.Reason, e.Hint = fmt.Sprintf("%s after the steps does not fit %s", strconv.FormatFloat(v, 'f', -1, 64), to), column.HintWider
	case to.IsFloat():
		e.Reason, e.Hint = fmt.Sprintf("%s after the steps does not fit %s", strconv.FormatFloat(v, 'g', -1, 64), to), column.HintWider
	default:
		e.Reason = fmt.Sprintf("%s does not fit %s, or is beyond the whole numbers up to 2^53 that steps keep exactly", strconv.FormatFloat(v, 'f', -1, 64), to)
		e.Hint = "leave the column's steps out"
	}
	return &e
}

// prepared is what the manifest says of the steps before scaling; nil without such.
func (p *preparation) prepared() *layout.Prepared {
	s := p.Steps
	s.Scale = ""
	if s == (option.Steps{}) {
		return nil
	}
	out := &layout.Prepared{Log1p: s.Log1p, Diff: s.Diff, Fill: s.Fill.How}
	switch {
	case s.Fill.How == option.FillValue:
		out.FillValue = layout.Floats{s.Fill.Value}
	case p.means != nil:
		out.FillValue, out.FillPer = p.means, p.Per
	}
	if s.Clip.HasLow {
		out.ClipLow = &s.Clip.Low
	}
	if s.Clip.HasHigh {
		out.ClipHigh = &s.Clip.High
	}
	out.First, out.Last, out.Before = p.firsts, p.lasts, p.missing
	return out
}

// tooLarge refuses an integer that its steps may have rounded.
func (p *preparation) tooLarge(row int64, v float64) error {
	e := p.Place(row)
	e.Column = p.Column.Name
	e.Reason = fmt.Sprintf("the integer near %.0f is not between -2^53 and 2^53, the range of fill and clip", v)
	e.Hint = fmt.Sprintf("leave column %q out of fill and clip, or store it as floats in the source", p.Column.Name)
	return &e
}
