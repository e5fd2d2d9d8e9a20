package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/gather"
	"github.com/tensorcache/tensorcache/layout"
)

// parts gathers the parts of windows from the mapped columns. The caller keeps them mapped.
type parts[T Value] struct {
	windows  *Windows
	parts    []*part[T]
	dilation int64
	reach    int64 // the last row of a window that any part reads
	context  int64 // number of samples
	padded   bool  // windows may begin before their item
	masks    bool  // batches report which values are missing
	times    layout.Strided[int64]
}

// part gathers one part.
type part[T Value] struct {
	name     string
	dtype    layout.DType
	samples  span
	gather   *gather.Part
	width    int64 // number of features
	shape    []int // of a batch of the usual size
	channels bool  // [features, samples]

	// If all columns are adjacent in the file, and nothing else is between their rows, a window is a
	// slice of whole.
	columns  int
	separate bool
	whole    layout.Strided[T]
}

// span are samples of a window, counted from its start: [from, to).
type span struct{ from, to int64 }

func (s span) len() int64 { return s.to - s.from }

// newParts returns the parts of windows, for batches of mostly rows windows. mask reports missing
// values even if the spec admits none. The error wraps ErrType if a part has another type than T.
func newParts[T Value](w *Windows, rows int, channelsFirst, mask bool) (*parts[T], error) {
	s := w.spec
	c := &parts[T]{windows: w, dilation: max(1, s.Dilation), context: s.ContextLength}
	c.padded = s.MinContext != nil && *s.MinContext < s.ContextLength
	c.masks = mask || s.MaxMissing.Any || s.MaxMissing.Share > 0
	end := s.ContextLength + s.Gap + s.PredictionLength
	target := span{s.ContextLength + s.Gap - s.Overlap, end}
	if w.isLatest() || s.PredictionLength == 0 {
		target = span{}
	}
	var err error
	if c.times, _, err = w.source.times(); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name     string
		features []string
		samples  span
	}{
		{"context", w.features.Context, span{0, s.ContextLength}},
		{"target", w.features.Target, target},
		{"known", w.features.Known, span{0, end}},
		{"static", w.features.Static, span{0, 1}},
	} {
		if len(one.features) == 0 || one.samples.len() == 0 {
			continue
		}
		p := &part[T]{name: one.name, samples: one.samples}
		if err := p.open(w, one.features, c.dilation, channelsFirst); err != nil {
			return nil, err
		}
		p.shape = []int{rows, int(p.samples.len()), int(p.width)}
		switch {
		case p.isStatic():
			p.shape = []int{rows, int(p.width)}
		case p.channels:
			p.shape = []int{rows, int(p.width), int(p.samples.len())}
		}
		if !p.isStatic() {
			c.reach = max(c.reach, (p.samples.to-1)*c.dilation)
		}
		c.parts = append(c.parts, p)
	}
	return c, nil
}

func (p *part[T]) isStatic() bool { return p.name == "static" }

// open looks up the columns of the part.
func (p *part[T]) open(w *Windows, features []string, dilation int64, channelsFirst bool) error {
	columns, err := w.columns(features)
	if err != nil {
		return err
	}
	p.columns, p.separate = len(columns), true
	p.channels = channelsFirst && !p.isStatic()
	for _, column := range columns {
		p.dtype = layout.DType(w.spec.DType.Name())
		if p.dtype == "" {
			p.dtype = column.DType.Plain()
		}
		if err := checkType[T](p.name, p.dtype); err != nil {
			return err
		}
		p.width += max(1, column.Width())
	}
	p.gather, err = gather.NewPart(w.data.data, columns, p.dtype, gather.Block{
		Length: p.samples.len(), Features: p.width, ChannelsFirst: p.channels, Dilation: dilation})
	if err != nil {
		return err
	}
	if columns[0].DType.Plain() == p.dtype {
		var adjacent bool
		p.whole, adjacent, err = adjacentColumns[T](w.data.data, columns)
		p.separate = !adjacent || !p.whole.Contiguous()
	}
	return err
}

// adjacentColumns returns columns that are stored as T as one, if they are adjacent in each row.
func adjacentColumns[T Value](d *layout.Data, columns []*layout.ManifestColumn) (
	v layout.Strided[T], adjacent bool, err error) {
	raw, adjacent, err := layout.Block[uint8](d, columns)
	return layout.Strided[T]{Data: cast[T](raw.Data), Step: raw.Step, Width: raw.Width,
		Rows: raw.Rows}, adjacent, err
}

// shapeOf returns the shape of a batch of n windows.
func (p *part[T]) shapeOf(n int) []int {
	if n == p.shape[0] {
		return p.shape
	}
	shape := copySlice(p.shape)
	shape[0] = n
	return shape
}

// fill makes the parts of a batch whose Item and Start are known, in the memory of own, which grows
// if it must.
func (c *parts[T]) fill(b, own *Batch[T]) error {
	if err := c.check(b.Item, b.Start); err != nil {
		return err
	}
	for _, p := range c.parts {
		into, _ := own.part(p.name)
		*into = sized(*into, p.shapeOf(b.Len()))
		c.copy(p, b.Item, b.Start, *into)
		values, _ := b.part(p.name)
		*values = *into
		c.markMissing(p, b, own)
		if v := c.windows.spec.MissingValue; v != nil && *v == *v {
			gather.ReplaceMissing(p.dtype, castBytes(into.Data), *v)
		}
	}
	return nil
}

// check returns an error for places outside of the dataset, which no daemon of this protocol sends.
func (c *parts[T]) check(items, starts []int64) error {
	offsets := c.windows.source.offsets
	for i, item := range items {
		if item < 0 || item >= int64(len(offsets))-1 || starts[i] < 0 && !c.padded ||
			starts[i]+c.reach >= offsets[item+1]-offsets[item] {
			return fmt.Errorf("%w: a window of item %d at row %d", ErrProtocol, item, starts[i])
		}
	}
	return nil
}

// copy copies a part of windows, and prefetches the next one meanwhile.
func (c *parts[T]) copy(p *part[T], items, starts []int64, into Part[T]) {
	if len(items) == 0 {
		return
	}
	row, padding := c.locate(p, items[0], starts[0])
	for i := range items {
		nextRow, nextPadding := row, padding
		if i+1 < len(items) {
			nextRow, nextPadding = c.locate(p, items[i+1], starts[i+1])
			p.gather.Prefetch(nextRow)
		}
		p.gather.Copy(castBytes(into.Window(i)), row, padding)
		row, padding = nextRow, nextPadding
	}
}

// locate returns how many of the first samples of a window's part are padding, and the row of the
// dataset of the sample after them.
func (c *parts[T]) locate(p *part[T], item, start int64) (row, padding int64) {
	offset := c.windows.source.offsets[item]
	if p.isStatic() {
		return offset, 0
	}
	from := start + p.samples.from*c.dilation
	if c.padded {
		if first := c.windows.source.firstRow(item, c.times); from < first {
			padding = min(p.samples.len(), (first-from+c.dilation-1)/c.dilation)
		}
	}
	return offset + from + padding*c.dilation, padding
}

// markMissing reports which values of a part are missing, if batches do.
func (c *parts[T]) markMissing(p *part[T], b, own *Batch[T]) {
	values, missing := b.part(p.name)
	_, into := own.part(p.name)
	if !c.masks || missing == nil {
		return
	}
	*into = sized(*into, values.Shape)
	for i := range b.Len() {
		gather.MarkMissing(p.dtype, castBytes(values.Window(i)), castBytes(into.Window(i)))
	}
	*missing = *into
}

// mask reports which rows of the contexts are real.
func (c *parts[T]) mask(b, own *Batch[T]) {
	own.Mask = sized(own.Mask, []int{b.Len(), int(c.context)})
	for i, item := range b.Item {
		first, mask := c.windows.source.firstRow(item, c.times), own.Mask.Window(i)
		for k := range mask {
			mask[k] = !c.padded || b.Start[i]+int64(k)*c.dilation >= first
		}
	}
	b.Mask = own.Mask
}

// part returns a part of values by its name, and the mask of its missing values, nil if it has none.
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
