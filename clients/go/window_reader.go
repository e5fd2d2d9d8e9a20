package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/gather"
	"github.com/tensorcache/tensorcache/layout"
)

// windowReader reads windows from the mapped columns. The caller keeps the columns mapped.
type windowReader[T Value] struct {
	windows       *Windows
	parts         []*partReader[T]
	dilation      int64
	lastRow       int64 // the last row that any part reads, counted from the window's start
	contextLength int64 // number of samples
	padded        bool  // windows may begin before their item
	masks         bool  // batches report which values are missing
	times         layout.Strided[int64]
}

// partReader reads one part of windows.
type partReader[T Value] struct {
	name          string
	dtype         layout.DType
	samples       span
	gather        *gather.Part
	calendar      *gather.Calendar // in place of gather, if rows after an item's end are computed
	width         int64            // number of features
	shape         []int            // of a batch of the usual size
	channelsFirst bool             // [features, samples]

	// If all columns are adjacent in the file, and no other column is between them, rows has their
	// values, and a window is a slice of it.
	columns     int
	notAdjacent bool
	rows        layout.Strided[T]
}

// span is a range of samples of a window, counted from its start: [from, to).
type span struct{ from, to int64 }

func (s span) len() int64 { return s.to - s.from }

// newWindowReader returns a reader of windows, for batches of mostly batchSize windows. If mask is
// true, batches report missing values even if the spec admits none. The error wraps ErrType if a
// part has another type than T.
func newWindowReader[T Value](w *Windows, batchSize int, channelsFirst,
	mask bool) (*windowReader[T], error) {
	s := w.spec
	r := &windowReader[T]{windows: w, dilation: max(1, s.Dilation), contextLength: s.ContextLength}
	r.padded = s.MinContext != nil && *s.MinContext < s.ContextLength
	r.masks = mask || s.MaxMissing.Any || s.MaxMissing.Share > 0
	end := s.ContextLength + s.Gap + s.PredictionLength
	target := span{s.ContextLength + s.Gap - s.Overlap, end}
	if w.isLatest() || s.PredictionLength == 0 {
		target = span{}
	}
	var err error
	if r.times, _, err = w.itemRows.times(); err != nil {
		return nil, err
	}
	for _, named := range []struct {
		name     string
		features []string
		samples  span
	}{
		{"context", w.features.Context, span{0, s.ContextLength}},
		{"target", w.features.Target, target},
		{"known", w.features.Known, span{0, end}},
		{"static", w.features.Static, span{0, 1}},
	} {
		if len(named.features) == 0 || named.samples.len() == 0 {
			continue
		}
		p := &partReader[T]{name: named.name, samples: named.samples}
		if err := p.openColumns(w, named.features, r.dilation, channelsFirst); err != nil {
			return nil, err
		}
		p.shape = []int{batchSize, int(p.samples.len()), int(p.width)}
		switch {
		case p.isStatic():
			p.shape = []int{batchSize, int(p.width)}
		case p.channelsFirst:
			p.shape = []int{batchSize, int(p.width), int(p.samples.len())}
		}
		if named.name == "known" && w.computesKnown {
			if err := r.openCalendar(p); err != nil {
				return nil, err
			}
		} else if !p.isStatic() {
			r.lastRow = max(r.lastRow, (p.samples.to-1)*r.dilation)
		}
		r.parts = append(r.parts, p)
	}
	return r, nil
}

func (p *partReader[T]) isStatic() bool { return p.name == "static" }

// openColumns finds the columns of the part.
func (p *partReader[T]) openColumns(w *Windows, features []string, dilation int64,
	channelsFirst bool) error {
	columns, err := w.featureColumns(features)
	if err != nil {
		return err
	}
	p.columns, p.notAdjacent = len(columns), true
	p.channelsFirst = channelsFirst && !p.isStatic()
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
		Length: p.samples.len(), Features: p.width, ChannelsFirst: p.channelsFirst,
		Dilation: dilation, Pad: w.spec.PadValue})
	if err != nil {
		return err
	}
	if columns[0].DType.Plain() == p.dtype {
		var adjacent bool
		p.rows, adjacent, err = adjacentColumns[T](w.data.data, columns)
		p.notAdjacent = !adjacent || !p.rows.Contiguous()
	}
	return err
}

// openCalendar prepares the part for windows with rows after the end of their item. The daemon has
// checked that their times are regular.
func (r *windowReader[T]) openCalendar(p *partReader[T]) error {
	columns, err := r.windows.featureColumns(r.windows.features.Known)
	if err != nil {
		return err
	}
	ends := &calendar.Ends{Offsets: r.windows.itemRows.offsets}
	if s := r.windows.data.data.Manifest.TimeStep; s != nil {
		ends.Times, ends.Step = r.times.Data, s.Step
	}
	p.calendar, err = gather.NewCalendar(r.windows.data.data, columns, p.dtype, p.gather, ends)
	return err
}

// adjacentColumns returns columns of T as one, if they are adjacent in each row.
func adjacentColumns[T Value](d *layout.Data, columns []*layout.ManifestColumn) (
	v layout.Strided[T], adjacent bool, err error) {
	raw, adjacent, err := layout.Block[uint8](d, columns)
	return layout.Strided[T]{Data: valuesOfBytes[T](raw.Data), Step: raw.Step, Width: raw.Width,
		Rows: raw.Rows}, adjacent, err
}

// shapeOf returns the shape of a batch of n windows.
func (p *partReader[T]) shapeOf(n int) []int {
	if n == p.shape[0] {
		return p.shape
	}
	shape := copySlice(p.shape)
	shape[0] = n
	return shape
}

// gather copies the parts of a batch whose Item and Start are set, in the memory of buffer, which
// grows if it must.
func (r *windowReader[T]) gather(b, buffer *Batch[T]) error {
	if err := r.checkPlaces(b.ItemCode, b.Start); err != nil {
		return err
	}
	for _, p := range r.parts {
		into, _ := buffer.part(p.name)
		*into = withShape(*into, p.shapeOf(b.Len()))
		r.gatherPart(p, b.ItemCode, b.Start, *into)
		values, _ := b.part(p.name)
		*values = *into
		r.markMissing(p, b, buffer)
		r.replaceMissing(p, *into)
		r.pad(p, b.ItemCode, b.Start, *into)
	}
	return nil
}

// checkPlaces returns an error if a window is outside of its item, which no daemon of this protocol
// sends.
func (r *windowReader[T]) checkPlaces(items, starts []int64) error {
	offsets := r.windows.itemRows.offsets
	for i, item := range items {
		if item < 0 || item >= int64(len(offsets))-1 || starts[i] < 0 && !r.padded ||
			starts[i]+r.lastRow >= offsets[item+1]-offsets[item] {
			return fmt.Errorf("%w: a window of item %d at row %d", ErrProtocol, item, starts[i])
		}
	}
	return nil
}

// replaceMissing replaces the missing values of a part by the spec's missing value, if it has one.
func (r *windowReader[T]) replaceMissing(p *partReader[T], values Part[T]) {
	if v := r.windows.spec.MissingValue; v != nil && *v == *v {
		gather.ReplaceMissing(p.dtype, bytesOfValues(values.Data), *v)
	}
}

// pad writes the spec's value of padding into the windows of a part.
func (r *windowReader[T]) pad(p *partReader[T], items, starts []int64, into Part[T]) {
	if !r.padded || r.windows.spec.PadValue == 0 || p.isStatic() {
		return
	}
	for i := range items {
		_, padding := r.locate(p, items[i], starts[i])
		p.gather.Pad(bytesOfValues(into.Window(i)), padding)
	}
}

// gatherPart copies a part of windows. Meanwhile it prefetches the next window, unless the two
// overlap.
func (r *windowReader[T]) gatherPart(p *partReader[T], items, starts []int64, into Part[T]) {
	if len(items) == 0 {
		return
	}
	row, padding := r.locate(p, items[0], starts[0])
	for i := range items {
		nextRow, nextPadding := row, padding
		if i+1 < len(items) {
			nextRow, nextPadding = r.locate(p, items[i+1], starts[i+1])
			if uint64(nextRow-row) >= uint64(p.samples.len()*r.dilation) {
				p.gather.Prefetch(nextRow)
			}
		}
		if p.calendar != nil {
			p.calendar.Copy(bytesOfValues(into.Window(i)), items[i], row, padding)
		} else {
			p.gather.Copy(bytesOfValues(into.Window(i)), row, padding)
		}
		row, padding = nextRow, nextPadding
	}
}

// locate returns how many samples of a window's part are padding, and the dataset's row of the
// first sample after them.
func (r *windowReader[T]) locate(p *partReader[T], item, start int64) (row, padding int64) {
	offset := r.windows.itemRows.offsets[item]
	if p.isStatic() {
		return offset, 0
	}
	from := start + p.samples.from*r.dilation
	if r.padded {
		if first := r.windows.itemRows.firstRow(item, r.times); from < first {
			padding = min(p.samples.len(), (first-from+r.dilation-1)/r.dilation)
		}
	}
	return offset + from + padding*r.dilation, padding
}

// markMissing sets the mask of a part's missing values, if batches have one.
func (r *windowReader[T]) markMissing(p *partReader[T], b, buffer *Batch[T]) {
	values, missing := b.part(p.name)
	_, mask := buffer.part(p.name)
	if !r.masks || missing == nil {
		return
	}
	*mask = withShape(*mask, values.Shape)
	for i := range b.Len() {
		gather.MarkMissing(p.dtype, bytesOfValues(values.Window(i)), bytesOfValues(mask.Window(i)))
	}
	*missing = *mask
}

// markRealRows sets the batch's Mask: which rows of the contexts are not padding.
func (r *windowReader[T]) markRealRows(b, buffer *Batch[T]) {
	buffer.Mask = withShape(buffer.Mask, []int{b.Len(), int(r.contextLength)})
	for i, item := range b.ItemCode {
		first, mask := r.windows.itemRows.firstRow(item, r.times), buffer.Mask.Window(i)
		for k := range mask {
			mask[k] = !r.padded || b.Start[i]+int64(k)*r.dilation >= first
		}
	}
	b.Mask = buffer.Mask
}

// part returns a part by its name, and the mask of its missing values, or nil if it has none.
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
