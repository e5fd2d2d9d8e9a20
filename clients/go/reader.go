package tensorcache

import (
	"fmt"
	"reflect"

	"github.com/tensorcache/tensorcache/layout"
)

// reader copies rows of columns that lie side by side as values of T.
type reader[T Value] struct {
	width int64
	// read copies n rows of the dataset, a step apart, to out, where rows and the features of a row
	// lie so far apart.
	read func(from, step, n int64, out []T, row, feature int64)
}

// newReaders reads columns as they are stored, as many at a time as lie side by side, or converted
// where numbers become other numbers, as the daemon's gather does.
func newReaders[T Value](d *layout.Data,
	columns []*layout.ManifestColumn) (readers []reader[T], err error) {
	for len(columns) > 0 {
		n, r, err := nextReader[T](d, columns)
		if err != nil {
			return nil, err
		}
		readers, columns = append(readers, r), columns[n:]
	}
	return readers, nil
}

// nextReader takes as many columns from the front as one reader can read.
func nextReader[T Value](d *layout.Data, columns []*layout.ManifestColumn) (n int,
	r reader[T], err error) {
	if n = apart(columns); n > 0 && converts[T]() {
		r.width = int64(n)
		r.read, err = newConverting[T](d, columns[:n])
		return n, r, err
	}
	if !storedAs[T](columns[0]) {
		r.width = max(1, columns[0].Width())
		r.read, err = newConverting[T](d, columns[:1])
		return 1, r, err
	}
	for n = len(columns); ; n-- {
		v, beside, err := block[T](d, columns[:n])
		if beside || err != nil {
			return n, reader[T]{width: v.Width, read: same(v)}, err
		}
	}
}

// apart counts the plain columns of one dtype at the front that each lie in one piece.
func apart(columns []*layout.ManifestColumn) (n int) {
	for _, c := range columns {
		if c.DType != columns[0].DType || c.Width() > 0 || c.Strides[0] != c.DType.Size() {
			break
		}
		n++
	}
	return n
}

// storedAs tells whether values of a column are of T in the file.
func storedAs[T Value](c *layout.ManifestColumn) bool {
	return goTypes[c.DType.Plain()] == reflect.TypeFor[T]()
}

// block sees columns that are stored as T as one, where they lie side by side.
func block[T Value](d *layout.Data, columns []*layout.ManifestColumn) (v layout.Strided[T],
	beside bool, err error) {
	raw, beside, err := layout.Block[uint8](d, columns)
	return layout.Strided[T]{Data: cast[T](raw.Data), Step: raw.Step, Width: raw.Width,
		Rows: raw.Rows}, beside, err
}

// same reads columns of T.
func same[T Value](v layout.Strided[T]) func(from, step, n int64, out []T, row, feature int64) {
	return func(from, step, n int64, out []T, row, feature int64) {
		apart, in := step*v.Step, v.Data[min(from*v.Step, int64(len(v.Data))):]
		switch {
		case feature == 1 && row == v.Width && apart == v.Width:
			copy(out[:n*row], in)
		case feature == 1 && v.Width > 1:
			for k := range n {
				copy(out[k*row:k*row+v.Width], in[k*apart:])
			}
		default:
			for f := range v.Width {
				to, in := out[f*feature:], in[f:]
				switch {
				case apart == 1 && row == 1:
					copy(to[:n], in)
				case apart == 1:
					at := int64(0)
					for _, v := range in[:n] {
						to[at] = v
						at += row
					}
				default:
					for k := range n {
						to[k*row] = in[k*apart]
					}
				}
			}
		}
	}
}

// converts tells whether numbers become T.
func converts[T Value]() bool {
	var zero T
	switch any(zero).(type) {
	case float32, float64, int32, int64:
		return true
	}
	return false
}

func newConverting[T Value](d *layout.Data,
	columns []*layout.ManifestColumn) (func(from, step, n int64, out []T, row, feature int64),
	error) {
	var zero T
	switch any(zero).(type) {
	case float32:
		return converting[float32, T](d, columns)
	case float64:
		return converting[float64, T](d, columns)
	case int32:
		return converting[int32, T](d, columns)
	case int64:
		return converting[int64, T](d, columns)
	}
	return nil, fmt.Errorf("%w: column %q is %s", ErrType, columns[0].Name, columns[0].DType)
}

// converting reads numbers as N, which is T.
func converting[N layout.Number, T Value](d *layout.Data,
	columns []*layout.ManifestColumn) (func(from, step, n int64, out []T, row, feature int64),
	error) {
	switch columns[0].DType.Plain() {
	case layout.Float16:
		return halves[N, T](d, columns)
	case layout.Float32:
		return numbers[float32, N, T](d, columns)
	case layout.Float64:
		return numbers[float64, N, T](d, columns)
	case layout.Int8:
		return numbers[int8, N, T](d, columns)
	case layout.Int16:
		return numbers[int16, N, T](d, columns)
	case layout.Int32:
		return numbers[int32, N, T](d, columns)
	case layout.Int64:
		return numbers[int64, N, T](d, columns)
	case layout.Uint8, layout.Bool:
		return numbers[uint8, N, T](d, columns)
	case layout.Uint16:
		return numbers[uint16, N, T](d, columns)
	case layout.Uint32:
		return numbers[uint32, N, T](d, columns)
	case layout.Uint64:
		return numbers[uint64, N, T](d, columns)
	}
	return nil, fmt.Errorf("%w: column %q is %s", ErrType, columns[0].Name, columns[0].DType)
}
