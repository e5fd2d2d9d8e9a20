package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
)

// cutters cut the parts of windows out of the mapped columns. The caller holds the maps.
type cutters[T Value] struct {
	windows  *Windows
	parts    []*cutter[T]
	dilation int64
	reach    int64 // the row of a window that is the last of all parts
	context  int64 // rows
	padded   bool  // windows may begin before their item
	misses   bool  // what is missing is told
	times    layout.Strided[int64]
}

// cutter cuts one part.
type cutter[T Value] struct {
	name    string
	rows    span
	readers []reader[T]
	width   int64
	shape   []int // of a batch of the usual size
	row     int64 // how far rows lie apart in a window
	feature int64 // and features

	// Where all columns lie side by side and nothing else between their rows, a window is one piece
	// of whole.
	columns int
	apart   bool
	whole   layout.Strided[T]
}

// span are samples of a window, counted from its start: [from, to).
type span struct{ from, to int64 }

func (s span) len() int64 { return s.to - s.from }

// newCutters cuts batches of mostly so many windows; mask tells of what is missing even where the
// spec admits none of it. The error wraps ErrType where a part is of another type than T.
func newCutters[T Value](w *Windows, rows int, channelsFirst, mask bool) (*cutters[T], error) {
	s := w.spec
	c := &cutters[T]{windows: w, dilation: max(1, s.Dilation), context: s.ContextLength}
	c.padded = s.MinContext != nil && *s.MinContext < s.ContextLength
	c.misses = mask || s.MaxMissing.Any || s.MaxMissing.Share > 0
	end := s.ContextLength + s.Gap + s.PredictionLength
	target := span{s.ContextLength + s.Gap - s.Overlap, end}
	if w.isLatest() || s.PredictionLength == 0 {
		target = span{}
	}
	var err error
	if c.times, _, err = w.source.times(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name     string
		features []string
		rows     span
	}{
		{"context", w.features.Context, span{0, s.ContextLength}},
		{"target", w.features.Target, target},
		{"known", w.features.Known, span{0, end}},
		{"static", w.features.Static, span{0, 1}},
	} {
		if len(part.features) == 0 || part.rows.len() == 0 {
			continue
		}
		p, err := newCutter[T](w, part.name, part.features)
		if err != nil {
			return nil, err
		}
		p.rows, p.row, p.feature = part.rows, p.width, 1
		p.shape = []int{rows, int(p.rows.len()), int(p.width)}
		switch {
		case part.name == "static":
			p.shape = []int{rows, int(p.width)}
		case channelsFirst:
			p.shape = []int{rows, int(p.width), int(p.rows.len())}
			p.row, p.feature = 1, p.rows.len()
		}
		if part.name != "static" {
			c.reach = max(c.reach, (p.rows.to-1)*c.dilation)
		}
		c.parts = append(c.parts, p)
	}
	return c, nil
}

func newCutter[T Value](w *Windows, part string, features []string) (*cutter[T], error) {
	columns, err := w.columns(features)
	if err != nil {
		return nil, err
	}
	p := &cutter[T]{name: part, columns: len(columns), apart: true}
	for _, column := range columns {
		dtype := layout.DType(w.spec.DType.Name())
		if dtype == "" {
			dtype = column.DType.Plain()
		}
		if err := checkType[T](part, dtype); err != nil {
			return nil, err
		}
		p.width += max(1, column.Width())
	}
	if p.readers, err = newReaders[T](w.data.data, columns); err != nil {
		return nil, err
	}
	if storedAs[T](columns[0]) {
		var beside bool
		p.whole, beside, err = block[T](w.data.data, columns)
		p.apart = !beside || !p.whole.Contiguous()
	}
	return p, err
}

// shapeOf is the shape of a batch of n windows.
func (p *cutter[T]) shapeOf(n int) []int {
	if n == p.shape[0] {
		return p.shape
	}
	shape := copySlice(p.shape)
	shape[0] = n
	return shape
}

// fill makes the parts of a batch whose Item and Start are known, in memory of own, which grows
// where it has to.
func (c *cutters[T]) fill(b, own *Batch[T]) error {
	if err := c.check(b.Item, b.Start); err != nil {
		return err
	}
	for _, p := range c.parts {
		into, _ := own.part(p.name)
		*into = sized(*into, p.shapeOf(b.Len()))
		c.cut(p, b.Item, b.Start, *into)
		values, _ := b.part(p.name)
		*values = *into
		c.tell(p, b, own)
		c.replace(into.Data)
	}
	return nil
}

// check holds places to the dataset: what lies outside was not sent by a daemon of this protocol.
func (c *cutters[T]) check(items, starts []int64) error {
	offsets := c.windows.source.offsets
	for i, item := range items {
		if item < 0 || item >= int64(len(offsets))-1 || starts[i] < 0 && !c.padded ||
			starts[i]+c.reach >= offsets[item+1]-offsets[item] {
			return fmt.Errorf("%w: a window of item %d at row %d", ErrProtocol, item, starts[i])
		}
	}
	return nil
}

// cut copies a part of windows.
func (c *cutters[T]) cut(p *cutter[T], items, starts []int64, into Part[T]) {
	source := c.windows.source
	for i, item := range items {
		from, n, skip := starts[i]+p.rows.from*c.dilation, p.rows.len(), int64(0)
		out := into.Window(i)
		switch {
		case p.name == "static":
			from = 0
		case c.padded:
			if first := source.firstRow(item, c.times); from < first {
				skip = min(n, (first-from+c.dilation-1)/c.dilation)
				clear(out) // padding is 0
			}
		}
		if skip == n {
			continue
		}
		at := skip * p.row
		for _, r := range p.readers {
			r.read(source.offsets[item]+from+skip*c.dilation, c.dilation, n-skip, out[at:],
				p.row, p.feature)
			at += r.width * p.feature
		}
	}
}

// tell says which values of a part are missing, where that is asked for.
func (c *cutters[T]) tell(p *cutter[T], b, own *Batch[T]) {
	values, missing := b.part(p.name)
	_, into := own.part(p.name)
	if !c.misses || missing == nil {
		return
	}
	*into = sized(*into, values.Shape)
	for i := range b.Len() {
		nans(values.Window(i), into.Window(i))
	}
	*missing = *into
}

// replace puts what stands for missing values in their place, where that is not NaN.
func (c *cutters[T]) replace(values []T) {
	v := c.windows.spec.MissingValue
	if v == nil || *v != *v {
		return
	}
	switch values := any(values).(type) {
	case []float32:
		replace(values, float32(*v))
	case []float64:
		replace(values, *v)
	}
}

func replace[F float32 | float64](values []F, by F) {
	for i, v := range values {
		if v != v {
			values[i] = by
		}
	}
}

// nans says which values are missing: of numbers those that are NaN.
func nans[T Value](values []T, missing []bool) {
	switch values := any(values).(type) {
	case []float32:
		for i, v := range values {
			missing[i] = v != v
		}
	case []float64:
		for i, v := range values {
			missing[i] = v != v
		}
	case []layout.Half:
		for i, v := range values {
			missing[i] = v.IsNaN()
		}
	default:
		clear(missing)
	}
}

// mask says which rows of the contexts are real.
func (c *cutters[T]) mask(b, own *Batch[T]) {
	own.Mask = sized(own.Mask, []int{b.Len(), int(c.context)})
	for i, item := range b.Item {
		first, mask := c.windows.source.firstRow(item, c.times), own.Mask.Window(i)
		for k := range mask {
			mask[k] = !c.padded || b.Start[i]+int64(k)*c.dilation >= first
		}
	}
	b.Mask = own.Mask
}

// part is a part of values by its name, and what says which of them are missing, nil where nothing
// does.
func (b *Batch[T]) part(name string) (*Part[T], *Part[bool]) {
	switch name {
	case "context":
		return &b.Context, &b.ContextMissing
	case "target":
		return &b.Target, &b.TargetMissing
	case "known":
		return &b.Known, nil
	}
	return &b.Static, nil
}

// sized is a part of a shape, in the memory of p where that suffices.
func sized[T Value](p Part[T], shape []int) Part[T] {
	n := 1
	for _, length := range shape {
		n *= length
	}
	if cap(p.Data) < n {
		p.Data = make([]T, n)
	}
	return Part[T]{Data: p.Data[:n], Shape: shape}
}
