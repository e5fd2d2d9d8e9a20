package plan

import (
	"strconv"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// checkStatic returns an error if a static column changes within an item.
func checkStatic(h *store.Handle, columns []*layout.ManifestColumn, offsets []int64) error {
	for _, c := range columns {
		compute := func() (bool, error) { return true, staticColumn(h, c, offsets) }
		_, err := store.DerivedFile(h, "static-"+c.Name, compute, func(bool) []byte { return nil },
			func([]byte) (bool, error) { return true, nil })
		if err != nil {
			return err
		}
	}
	return nil
}

func staticColumn(h *store.Handle, c *layout.ManifestColumn, offsets []int64) error {
	switch c.DType.Plain() {
	case layout.Float64:
		return staticChanges(h, c, offsets, differ[float64])
	case layout.Float32:
		return staticChanges(h, c, offsets, differ[float32])
	case layout.Float16:
		return staticChanges(h, c, offsets,
			func(a, b layout.Half) bool { return differ(a.Float32(), b.Float32()) })
	case layout.Int64:
		return staticChanges(h, c, offsets, differ[int64])
	case layout.Int32:
		return staticChanges(h, c, offsets, differ[int32])
	case layout.Int16:
		return staticChanges(h, c, offsets, differ[int16])
	case layout.Int8:
		return staticChanges(h, c, offsets, differ[int8])
	case layout.Uint64:
		return staticChanges(h, c, offsets, differ[uint64])
	case layout.Uint32:
		return staticChanges(h, c, offsets, differ[uint32])
	case layout.Uint16:
		return staticChanges(h, c, offsets, differ[uint16])
	}
	return staticChanges(h, c, offsets, differ[uint8])
}

// differ reports whether two values are not the same. NaN equals NaN.
func differ[T layout.Number](a, b T) bool { return a != b && (a == a || b == b) }

func staticChanges[T layout.Native](h *store.Handle, c *layout.ManifestColumn, offsets []int64,
	differ func(a, b T) bool) error {
	v, err := layout.View[T](h.Data, c)
	if err != nil {
		return err
	}
	for item := range int64(len(offsets) - 1) {
		for row := offsets[item] + 1; row < offsets[item+1]; row++ {
			for j, x := range v.Row(row) {
				if was := v.Row(row - 1)[j]; differ(x, was) {
					return wire.NewProblem(wire.InvalidSpec,
						"static_columns: column %q is not constant: "+
							"%s has %v in row %d and %v in row %d",
						c.Name, itemName(h.Data, item), shown(h.Data, c, was), row-1-offsets[item],
						shown(h.Data, c, x), row-offsets[item]).WithField("static_columns").
						WithHint("name it in `context_columns` or `known_columns`, or leave it out")
				}
			}
		}
	}
	return nil
}

// shown returns a stored value as messages show it.
func shown(d *layout.Data, c *layout.ManifestColumn, v any) any {
	switch v := v.(type) {
	case layout.Half:
		return v.Float32()
	case int32:
		if c.DType != layout.Text {
			break
		}
		if word, err := d.Word(c.Name, int64(v)); err == nil {
			return strconv.Quote(word)
		}
		return "nothing"
	}
	return v
}
