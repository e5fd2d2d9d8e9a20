package tensorcache

import (
	"math"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// InverseOptions say which items values belong to, and which values precede them. The zero value
// works if no step was fitted per item.
type InverseOptions struct {
	// Item is the item that all values belong to, as [Dataset.Item] and [Batch.Item] return it. A
	// number is not a code here.
	Item any
	// ItemCodes are codes of items along the first axis, such as [Batch.ItemCode], in place of Item.
	ItemCodes []int64
	// Initial has, for columns stored as differences, the original values of the row before the
	// first one: [F] for values [P, F], and [B, F] for values [B, P, F]. Nil means that the values
	// begin at the first rows of items.
	Initial []float64
}

// Inverse undoes the steps of one column: stored · scale + shift, then cumulative sums along the
// rows for diff, then expm1 for log1p. It returns new memory. It does not undo fill, clip and
// winsorize, which lose the original values: sums of winsorized differences drift from them.
//
// values are rows of the column, one after the other. item is the item's value, or nil if no step
// was fitted per item. The error is of type ColumnNotFound, ItemNotFound or InvalidSpec.
func (d *Dataset) Inverse(column string, values []float64, item any) ([]float64, error) {
	c, err := d.column(column)
	if err != nil {
		return nil, err
	}
	width := int(max(1, c.Width()))
	p, err := Inverse(d, []string{column},
		Part[float64]{Data: values, Shape: []int{len(values) / width, width}},
		InverseOptions{Item: item})
	return p.Data, err
}

// Inverse undoes the steps of columns as [Dataset.Inverse] does, in float64 and new memory. The
// shape of values is [B, P, F], as of Batch.Target, or [P, F]: windows, rows, and the features of
// the columns in their order.
func Inverse[T float32 | float64](d *Dataset, columns []string, values Part[T],
	o InverseOptions) (Part[float64], error) {
	values = values.dense()
	in, err := newInversion(d, columns, values.Shape, len(values.Data), o)
	if err != nil {
		return Part[float64]{}, err
	}
	out := make([]float64, len(values.Data))
	for i, v := range values.Data {
		shift, scale := in.scalingAt(i)
		out[i] = float64(v)*scale + shift
	}
	at := 0
	for _, c := range in.columns {
		if err := in.undoSteps(c, out, at); err != nil {
			return Part[float64]{}, err
		}
		at += int(max(1, c.Width()))
	}
	return Part[float64]{Data: out, Shape: copySlice(values.Shape)}, nil
}

// inversion finds the column, item and row of each value of a part.
type inversion struct {
	columns      []*layout.ManifestColumn
	columnIndex  []int // index in columns, for each feature
	featureIndex []int // index in the column's features, for each feature
	features     int   // length of the last axis
	windows      int   // product of the axes before that of rows
	rows         int   // length of the axis of rows; 1 without one
	hasRows      bool
	firstStride  int  // number of values of one index of the first axis
	rowsAreFirst bool // the axis of rows is the first axis
	codes        []int64
	code         int64 // if codes is nil
	initial      []float64
}

func newInversion(d *Dataset, columns []string, shape []int, n int,
	o InverseOptions) (*inversion, error) {
	in := &inversion{windows: 1, rows: 1, initial: o.Initial, codes: o.ItemCodes}
	for at, name := range columns {
		c, err := d.column(name)
		if err != nil {
			return nil, err
		}
		if of := c.StepsOf; of != nil && of.Changed {
			e := errorf(InvalidSpec, name, "column %q was put as a part or a cast of column %q of dataset %q, "+
				"whose steps cannot be undone here", name, of.Column, of.Dataset)
			e.Hint = "put the column as it is, or a copy of the slice; a copy has no steps"
			return nil, e
		}
		in.columns = append(in.columns, c)
		for f := range int(max(1, c.Width())) {
			in.columnIndex, in.featureIndex = append(in.columnIndex, at), append(in.featureIndex, f)
		}
	}
	in.features = len(in.columnIndex)
	size := 1
	for _, length := range shape {
		size *= length
	}
	if size != n || len(columns) == 0 || len(shape) == 0 || shape[len(shape)-1] != in.features {
		return nil, errorf(InvalidSpec, "values",
			"values: got %d of shape %v, want a last axis of %d, the features of %s", n, shape,
			in.features, strings.Join(columns, ", "))
	}
	in.firstStride = n / max(1, shape[0])
	if axes := len(shape) - 1; axes > 0 {
		in.hasRows, in.rows, in.rowsAreFirst = true, shape[axes-1], axes == 1
		for _, length := range shape[:axes-1] {
			in.windows *= length
		}
	}
	return in, in.setItems(d, shape, o)
}

// setItems finds the item's code, or checks the codes.
func (in *inversion) setItems(d *Dataset, shape []int, o InverseOptions) (err error) {
	if o.Item != nil && o.ItemCodes != nil {
		return errorf(InvalidSpec, "item", "item: given together with item codes, want one of them")
	}
	if o.ItemCodes != nil {
		if len(shape) == 0 || len(o.ItemCodes) != shape[0] {
			return errorf(InvalidSpec, "item_code",
				"item_code: got %d codes for values of shape %v, want one along the first axis",
				len(o.ItemCodes), shape)
		}
		for _, code := range o.ItemCodes {
			if code < 0 || code >= d.Items() {
				return errorf(InvalidSpec, "item_code", "item_code: got %d, want codes from 0 to %d",
					code, d.Items()-1)
			}
		}
		return nil
	}
	if o.Item != nil {
		in.code, err = d.ItemCode(o.Item)
		return err
	}
	for _, c := range in.columns {
		scaled := c.Scale != nil && c.Scale.Per == "item"
		summed := o.Initial == nil && c.Prepared != nil && c.Prepared.First != nil
		if (scaled || summed) && d.Items() > 1 {
			e := errorf(InvalidSpec, "item", "item: the steps of column %q are per item", c.Name)
			e.Hint = "give the item's value as Item, or Batch.ItemCode of a batch as ItemCodes"
			return e
		}
	}
	return nil
}

// itemAt returns the code of the item of value i.
func (in *inversion) itemAt(i int) int64 {
	if in.codes == nil {
		return in.code
	}
	return in.codes[i/in.firstStride]
}

// scalingAt returns the shift and scale of value i.
func (in *inversion) scalingAt(i int) (shift, scale float64) {
	f := i % in.features
	c := in.columns[in.columnIndex[f]]
	if c.Scale == nil {
		return 0, 1
	}
	at := in.featureIndex[f]
	if c.Scale.Per == "item" {
		at += int(in.itemAt(i) * max(1, c.Width()))
	}
	return c.Scale.Shift[at], c.Scale.Scale[at]
}

// undoSteps undoes differences and logarithms of a column, whose first feature is feature at.
func (in *inversion) undoSteps(c *layout.ManifestColumn, out []float64, at int) error {
	if c.Prepared == nil {
		return nil
	}
	if c.Prepared.Diff {
		if err := in.undoDiff(c, out, at); err != nil {
			return err
		}
	}
	if c.Prepared.Log1p {
		for i := at; i < len(out); i += in.features {
			for f := range int(max(1, c.Width())) {
				out[i+f] = math.Expm1(out[i+f])
			}
		}
	}
	return nil
}

// undoDiff sums differences along the rows.
func (in *inversion) undoDiff(c *layout.ManifestColumn, out []float64, at int) error {
	if !in.hasRows {
		return errorf(InvalidSpec, "values",
			"values: got no axis of rows to sum differences of %q along", c.Name)
	}
	block, count := in.rows*in.features, in.windows
	if in.initial != nil && len(in.initial) != count*in.features {
		return errorf(InvalidSpec, "initial", "initial: got %d values, want %d", len(in.initial),
			count*in.features)
	}
	if in.initial != nil && in.rowsAreFirst && len(in.codes) > 1 &&
		slices.Max(in.codes) != slices.Min(in.codes) {
		e := errorf(InvalidSpec, "initial",
			"initial: got initial values for rows of several items, want rows of one item")
		e.Hint = "undo each item by itself, or give values of shape [windows, rows, features]"
		return e
	}
	for k := range count {
		for f := range int(max(1, c.Width())) {
			one := series{out[k*block : (k+1)*block], at + f, in.features}
			if in.initial != nil {
				one.accumulateFrom(c.Prepared, in.initial[k*in.features+at+f])
				continue
			}
			if err := in.undoDiffByItem(c, one, k*block, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// undoDiffByItem sums a series that begins at the first row of its item. If each row has an item
// code, the series may have several items.
func (in *inversion) undoDiffByItem(c *layout.ManifestColumn, s series, begin, feature int) error {
	n := s.len()
	for from := 0; from < n; {
		to := n
		code := in.itemAt(begin + from*s.stride)
		for r := from + 1; in.rowsAreFirst && in.codes != nil && r < n; r++ {
			if in.codes[r] != code {
				to = r
				break
			}
		}
		first := int(code*max(1, c.Width())) + feature
		if first >= len(c.Prepared.First) || !math.IsNaN(s.at(from)) {
			e := errorf(InvalidSpec, "initial", "initial: column %q holds differences", c.Name)
			e.Hint = "give the value before the first of them, such as the last known one"
			return e
		}
		s.accumulateAfter(from, to, c.Prepared.First[first])
		from = to
	}
	return nil
}

// series is the rows of one feature, in values that have the other features between them.
type series struct {
	values []float64
	offset int
	stride int
}

func (s series) len() int             { return len(s.values) / s.stride }
func (s series) at(r int) float64     { return s.values[s.offset+r*s.stride] }
func (s series) set(r int, v float64) { s.values[s.offset+r*s.stride] = v }

// accumulateFrom sums the rows, from the original value before the first one.
func (s series) accumulateFrom(p *layout.Prepared, initial float64) {
	sum := initial
	if p.ClipLow != nil {
		sum = math.Max(sum, *p.ClipLow)
	}
	if p.ClipHigh != nil {
		sum = math.Min(sum, *p.ClipHigh)
	}
	if p.Log1p {
		sum = math.Log1p(sum)
	}
	for r := range s.len() {
		sum += s.at(r)
		s.set(r, sum)
	}
}

// accumulateAfter sums rows from to to. first is the value of the last of the leading missing rows;
// the missing rows before it stay missing.
func (s series) accumulateAfter(from, to int, first float64) {
	r := from
	for r+1 < to && math.IsNaN(s.at(r+1)) {
		r++
	}
	sum := first
	s.set(r, sum)
	for r++; r < to; r++ {
		sum += s.at(r)
		s.set(r, sum)
	}
}
