package load

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// convertColumns converts the columns that were read as another dtype than they are stored as.
func (l *load) convertColumns(ctx context.Context, rows int64) error {
	for i, c := range l.columns {
		if !l.plans[i].convertedLater {
			continue
		}
		from := l.scratch.Column(l.scratchIndex[i], layout.Random)
		to := column.Sink{ColumnWriter: l.writer.Column(i, layout.WriteOnce), Loss: l.losses[i],
			MayBeRounded: c.MayBeRounded()}
		blocks := int((rows + column.BlockRows - 1) / column.BlockRows)
		err := parallel.For(ctx, l.Workers, blocks, "", func(_, block int) error {
			first := int64(block) * column.BlockRows
			n := min(column.BlockRows, rows-first)
			switch from.DType {
			case layout.Int64:
				return convertBlock(l, c, to, layout.Values[int64](from), first, n)
			case layout.Bool:
				return convertBlock(l, c, to, layout.Values[uint8](from), first, n)
			case layout.Float32:
				return convertBlock(l, c, to, layout.Values[float32](from), first, n)
			}
			return convertBlock(l, c, to, layout.Values[float64](from), first, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// convertBlock converts n rows of a column, which has one value a row.
func convertBlock[S column.Number](
	l *load, c column.Column, to column.Sink, from layout.Strided[S], first, n int64,
) error {
	src := from.Data[first : first+n]
	bad := column.Write(to, first, src)
	if bad < 0 {
		return nil
	}
	e := l.locate(first + int64(bad))
	why := c.Refuse(to, src[bad])
	e.Column, e.Text, e.Reason, e.Hint = c.Name, why.Text, why.Reason, why.Hint
	if src[bad] != src[bad] {
		e.Text, e.Reason = "", "the value is missing, but only float columns have missing values"
		e.Hint = "fill it with " + loaderr.ColumnOption("fill", c.Name, 0)
	}
	return &e
}

// dtypeErrors returns the errors of the columns whose floats were narrowed, by name.
func (l *load) dtypeErrors() map[string]*layout.DTypeError {
	out := map[string]*layout.DTypeError{}
	for i, s := range l.losses {
		c, to, steps := l.columns[i], l.plans[i].stored.DType, l.plans[i].steps
		was := c.Kind.DType()
		if len(steps) > 0 && !(c.Kind.IsInteger() && steps.KeepsIntegers()) {
			was = layout.Float64 // steps compute in it
		}
		if was.IsFloat() && to.IsFloat() && to.Size() < was.Size() {
			e := s.DTypeError
			out[c.Name] = &e
		}
	}
	return out
}
