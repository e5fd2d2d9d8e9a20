package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
)

// reader copies rows of one column as values of T.
type reader[T Value] struct {
	width int64
	// read copies a row of the dataset into out, and says of each value whether it is missing.
	read func(row int64, out []T, missing []bool)
}

// newReader reads a column as it is stored, or converted where numbers become other numbers, as the daemon's gather does.
func newReader[T Value](d *layout.Data, c *layout.ManifestColumn) (reader[T], error) {
	r := reader[T]{width: max(1, c.Width())}
	var zero T
	var err error
	switch any(zero).(type) {
	case float32:
		r.read, err = converting[float32, T](d, c)
	case float64:
		r.read, err = converting[float64, T](d, c)
	case int32:
		r.read, err = converting[int32, T](d, c)
	case int64:
		r.read, err = converting[int64, T](d, c)
	default: // only as stored
		r.read, err = same[T](d, c)
	}
	return r, err
}

// same reads a column of T.
func same[T Value](d *layout.Data, c *layout.ManifestColumn) (func(int64, []T, []bool), error) {
	v, err := view[T](d, c)
	return func(row int64, out []T, missing []bool) {
		copy(out, v.Row(row))
		for i := range out {
			half, ok := any(out[i]).(layout.Half)
			missing[i] = ok && half.IsNaN()
		}
	}, err
}

// converting reads numbers as N, which is T.
func converting[N layout.Number, T Value](d *layout.Data, c *layout.ManifestColumn) (func(int64, []T, []bool), error) {
	switch c.DType.Plain() {
	case layout.Float16:
		return halves[N, T](d, c)
	case layout.Float32:
		return numbers[float32, N, T](d, c)
	case layout.Float64:
		return numbers[float64, N, T](d, c)
	case layout.Int8:
		return numbers[int8, N, T](d, c)
	case layout.Int16:
		return numbers[int16, N, T](d, c)
	case layout.Int32:
		return numbers[int32, N, T](d, c)
	case layout.Int64:
		return numbers[int64, N, T](d, c)
	case layout.Uint8, layout.Bool:
		return numbers[uint8, N, T](d, c)
	case layout.Uint16:
		return numbers[uint16, N, T](d, c)
	case layout.Uint32:
		return numbers[uint32, N, T](d, c)
	case layout.Uint64:
		return numbers[uint64, N, T](d, c)
	}
	return nil, fmt.Errorf("%w: column %q is %s", ErrType, c.Name, c.DType)
}

func numbers[S, N layout.Number, T Value](d *layout.Data, c *layout.ManifestColumn) (func(int64, []T, []bool), error) {
	v, err := layout.View[S](d, c)
	return func(row int64, out []T, missing []bool) {
		to := any(out).([]N)
		for i, value := range v.Row(row) {
			to[i], missing[i] = N(value), value != value
		}
	}, err
}

func halves[N layout.Number, T Value](d *layout.Data, c *layout.ManifestColumn) (func(int64, []T, []bool), error) {
	v, err := layout.View[layout.Half](d, c)
	return func(row int64, out []T, missing []bool) {
		to := any(out).([]N)
		for i, value := range v.Row(row) {
			to[i], missing[i] = N(value.Float32()), value.IsNaN()
		}
	}, err
}
