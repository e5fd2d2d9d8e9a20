package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/layout"
)

// At is windows by their numbers, in that order, as a batch of memory of its own: cut out of the mapped columns here, without the
// daemon, which is asked once where the windows lie. T is as for [NewFeed], and the error too; a number that is none is of type
// InvalidRequest.
func At[T Value](ctx context.Context, w *Windows, numbers ...int64) (*Batch[T], error) {
	index, err := w.index(ctx)
	if err != nil {
		return nil, err
	}
	b := &Batch[T]{Item: make([]int64, len(numbers)), Start: make([]int64, len(numbers)), source: w.source}
	for i, n := range numbers {
		if n < 0 || n >= index.Len() {
			return nil, refuse(InvalidRequest, "number", "window %d: there are windows 0 to %d", n, index.Len()-1)
		}
		b.Item[i], b.Start[i] = index.place(n)
	}
	release, err := w.data.acquire()
	if err != nil {
		return nil, err
	}
	defer release()
	return b, fill(w, b)
}

// fill cuts the parts of the windows at Item and Start out of the columns; the caller holds the maps.
func fill[T Value](w *Windows, b *Batch[T]) error {
	s := w.spec
	context := span{0, s.ContextLength}
	target := span{s.ContextLength + s.Gap - s.Overlap, s.ContextLength + s.Gap + s.PredictionLength}
	known := span{0, s.ContextLength + s.Gap + s.PredictionLength}
	if w.isLatest() || s.PredictionLength == 0 {
		target = span{}
	}
	misses := s.MaxMissing.Any || s.MaxMissing.Share > 0
	for _, part := range []struct {
		name     string
		features []string
		rows     span
		values   *Part[T]
		missing  *Part[bool]
	}{
		{"context", w.features.Context, context, &b.Context, &b.ContextMissing},
		{"target", w.features.Target, target, &b.Target, &b.TargetMissing},
		{"known", w.features.Known, known, &b.Known, nil},
		{"static", w.features.Static, span{0, 1}, &b.Static, nil},
	} {
		if len(part.features) == 0 || part.rows.len() == 0 {
			continue
		}
		if !misses {
			part.missing = nil
		}
		c, err := newCutter[T](w, part.name, part.features)
		if err != nil {
			return err
		}
		if err := c.cut(b.Item, b.Start, part.rows, part.values, part.missing); err != nil {
			return err
		}
		if part.name == "static" {
			b.Static.Shape = []int{len(b.Item), len(part.features)}
		}
	}
	if s.MinContext != nil && *s.MinContext < s.ContextLength {
		return fillMask(w, b, context)
	}
	return nil
}

// span are samples of a window, counted from its start: [from, to).
type span struct{ from, to int64 }

func (s span) len() int64 { return s.to - s.from }

func fillMask[T Value](w *Windows, b *Batch[T], context span) error {
	times, _, err := w.source.times()
	if err != nil {
		return err
	}
	b.Mask = Part[bool]{make([]bool, int64(len(b.Item))*context.len()), []int{len(b.Item), int(context.len())}}
	for i, item := range b.Item {
		first := w.source.firstRow(item, times)
		for k, mask := int64(0), b.Mask.Window(i); k < context.len(); k++ {
			mask[k] = b.Start[i]+k*max(1, w.spec.Dilation) >= first
		}
	}
	return nil
}

// cutter cuts one part.
type cutter[T Value] struct {
	windows *Windows
	static  bool
	readers []reader[T]
	width   int64
}

func newCutter[T Value](w *Windows, part string, features []string) (*cutter[T], error) {
	columns, err := w.columns(features)
	if err != nil {
		return nil, err
	}
	c := &cutter[T]{windows: w, static: part == "static"}
	for _, column := range columns {
		dtype := layout.DType(w.spec.DType.Name())
		if dtype == "" {
			dtype = column.DType.Plain()
		}
		if err := checkType[T](part, dtype); err != nil {
			return nil, err
		}
		r, err := newReader[T](w.data.data, column)
		if err != nil {
			return nil, err
		}
		c.readers = append(c.readers, r)
		c.width += r.width
	}
	return c, nil
}

// cut copies a span of windows into values, [B, len, width], and says which are missing, if that is asked for.
func (c *cutter[T]) cut(items, starts []int64, rows span, values *Part[T], missing *Part[bool]) error {
	w := c.windows
	times, _, err := w.source.times()
	if err != nil {
		return err
	}
	shape := []int{len(items), int(rows.len()), int(c.width)}
	*values = Part[T]{make([]T, int64(len(items))*rows.len()*c.width), shape}
	gone := make([]bool, c.width)
	if missing != nil {
		*missing = Part[bool]{make([]bool, len(values.Data)), shape}
	}
	fill, filled := fillOf[T](w)
	for i, item := range items {
		base, first := w.source.offsets[item], w.source.firstRow(item, times)
		at := int64(i) * rows.len() * c.width
		for k := rows.from; k < rows.to; k, at = k+1, at+c.width {
			row := starts[i] + k*max(1, w.spec.Dilation)
			if c.static {
				row = first
			}
			if row < first {
				continue // padding is 0
			}
			out := values.Data[at : at+c.width]
			for column, to := 0, int64(0); column < len(c.readers); column++ {
				r := &c.readers[column]
				r.read(base+row, out[to:to+r.width], gone[to:to+r.width])
				to += r.width
			}
			if missing != nil {
				copy(missing.Data[at:], gone)
			}
			for f := range out {
				if filled && gone[f] {
					out[f] = fill
				}
			}
		}
	}
	return nil
}

// fillOf is what stands for missing values; ok is false where they stay NaN.
func fillOf[T Value](w *Windows) (fill T, ok bool) {
	if v := w.spec.MissingValue; v != nil && *v == *v {
		switch fill := any(&fill).(type) {
		case *float32:
			*fill = float32(*v)
			return any(*fill).(T), true
		case *float64:
			*fill = *v
			return any(*fill).(T), true
		}
	}
	return fill, false
}
