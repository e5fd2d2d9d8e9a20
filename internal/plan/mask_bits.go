package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/bitset"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// MaskBits returns the bits of each feature of a mask, nil for features without a set bit. A bit is set if
// the value is missing, or if it was not observed. The bits are computed once for each column of a
// generation. The error is a *wire.Problem if the generation does not store which values were filled.
func (w *Windows) MaskBits(p Part) ([]bitset.Bits, error) {
	var out []bitset.Bits
	for _, c := range p.Columns {
		bits, err := columnBits(w.Handle, c, p.Kind)
		if err != nil {
			return nil, err
		}
		out = append(out, bits...)
	}
	return out, nil
}

func columnBits(h *store.Handle, c *layout.ManifestColumn, kind Kind) ([]bitset.Bits, error) {
	v, err := h.Derived(fmt.Sprintf("mask %d %s", kind, c.Name), func() (any, error) {
		b := maskBuilder{rows: c.Shape[0], features: make([]bitset.Bits, max(c.Width(), 1))}
		if kind == KindMissing {
			return b.features, b.addMissing(h, c)
		}
		missing, err := columnBits(h, c, KindMissing)
		if err == nil {
			b.shared = slices.Clone(missing)
			copy(b.features, missing)
			err = b.addUnobserved(h, c)
		}
		return b.features, err
	})
	if err != nil {
		return nil, err
	}
	return v.([]bitset.Bits), nil
}

// maskBuilder sets the bits of a column.
type maskBuilder struct {
	rows     int64
	features []bitset.Bits // nil until a bit is set
	shared   []bitset.Bits // the bits of another mask, which features may have until a bit is set
}

// set sets the bits of a feature for the rows [from, to).
func (b *maskBuilder) set(from, to, feature int64) {
	switch {
	case b.features[feature] == nil:
		b.features[feature] = bitset.New(b.rows)
	case b.shared != nil && b.shared[feature] != nil:
		b.features[feature], b.shared[feature] = bytes.Clone(b.features[feature]), nil
	}
	b.features[feature].Set(from, to)
}

// addMissing sets the bits of the values that are NaN.
func (b *maskBuilder) addMissing(h *store.Handle, c *layout.ManifestColumn) error {
	switch {
	case c.Missing == 0 || !c.DType.IsFloat():
		return nil
	case c.DType == layout.Float64:
		return addNaN(b, h, c, isNaN[float64])
	case c.DType == layout.Float16:
		return addNaN(b, h, c, layout.Half.IsNaN)
	}
	return addNaN(b, h, c, isNaN[float32])
}

func isNaN[T float32 | float64](v T) bool { return v != v }

// addNaN reads only rows in which some values are missing and others are not.
func addNaN[T layout.Native](b *maskBuilder, h *store.Handle, c *layout.ManifestColumn,
	isMissing func(T) bool) error {
	rows, err := missingRows(h, c)
	if err != nil {
		return err
	}
	v, err := layout.View[T](h.Data, c)
	if err != nil {
		return err
	}
	for _, r := range rows {
		for f := range v.Width {
			if r.Cells == v.Width || isMissing(v.Row(r.Row)[f]) {
				b.set(r.Row, r.Row+1, f)
			}
		}
	}
	return nil
}

// addUnobserved sets the bits of texts that are missing, and of values that a load filled.
func (b *maskBuilder) addUnobserved(h *store.Handle, c *layout.ManifestColumn) error {
	if of := c.PartOfFilled; of != nil {
		return wire.NewProblem(wire.InvalidSpec, "column %q is a part or a cast of column %q of dataset "+
			"%q: the generation does not store which of its values were filled", c.Name, of.Column,
			of.Dataset).WithField("columns").
			WithHint("put the whole column, at the daemon of that dataset; values of a copy all count as observed")
	}
	if c.DType == layout.Text && c.Missing > 0 {
		if err := b.addMissingTexts(h, c); err != nil {
			return err
		}
	}
	filled, err := h.Data.FilledCells(c)
	if errors.Is(err, layout.ErrNotStored) {
		hint := "remove the dataset and load it again from its sources"
		if c.StepsOf != nil {
			hint += fmt.Sprintf("; before, dataset %q, of which the column is", c.StepsOf.Dataset)
		}
		return wire.NewProblem(wire.InvalidSpec, "%s", err).WithField("columns").WithHint("%s", hint)
	}
	for f, runs := range filled {
		for _, r := range runs {
			b.set(r.Row, r.Row+r.Rows, int64(f))
		}
	}
	return err
}

func (b *maskBuilder) addMissingTexts(h *store.Handle, c *layout.ManifestColumn) error {
	v, err := layout.View[int32](h.Data, c)
	if err != nil {
		return err
	}
	for row := range v.Rows {
		for f, code := range v.Row(row) {
			if code < 0 {
				b.set(row, row+1, int64(f))
			}
		}
	}
	return nil
}
