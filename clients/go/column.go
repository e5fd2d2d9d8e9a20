package tensorcache

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// Value are the Go types that columns and batches hold: bool for dtype bool, int64 for timestamps
// and durations in their unit, int32 for the codes of texts (−1 where there is none), [layout.Half]
// for float16, and the type of its name for every other.
type Value interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | layout.Half
}

// goTypes are the Go types of dtypes.
var goTypes = map[layout.DType]reflect.Type{
	layout.Float16: reflect.TypeFor[layout.Half](), layout.Float32: reflect.TypeFor[float32](),
	layout.Float64: reflect.TypeFor[float64](),
	layout.Int8:    reflect.TypeFor[int8](), layout.Int16: reflect.TypeFor[int16](),
	layout.Int32: reflect.TypeFor[int32](), layout.Int64: reflect.TypeFor[int64](),
	layout.Uint8: reflect.TypeFor[uint8](), layout.Uint16: reflect.TypeFor[uint16](),
	layout.Uint32: reflect.TypeFor[uint32](), layout.Uint64: reflect.TypeFor[uint64](),
	layout.Bool: reflect.TypeFor[bool](), layout.Timestamp: reflect.TypeFor[int64](),
	layout.Duration: reflect.TypeFor[int64](), layout.Text: reflect.TypeFor[int32](),
}

// checkType refuses to see values of a dtype as another Go type's; the error wraps ErrType.
func checkType[T Value](what string, dtype layout.DType) error {
	if want, got := goTypes[dtype], reflect.TypeFor[T](); want != got {
		return fmt.Errorf("%w: %s is %s, so ask for %s and not for %s", ErrType, what,
			dtype, want, got)
	}
	return nil
}

// Column is a column as a slice of all its rows: no copy, valid until d.Close, not to be written
// to. A column of shape [rows, n] comes row by row. The error wraps ErrType where T is not the
// column's type, and is of type InvalidRequest for a column that does not lie in one piece, as
// those of layout packed: [View] sees these.
func Column[T Value](d *Dataset, name string) ([]T, error) {
	v, err := View[T](d, name)
	if err != nil {
		return nil, err
	}
	if !v.Contiguous() {
		e := refuse(InvalidRequest, name, "column %q lies among others, in layout %q", name,
			d.data.Manifest.Layout)
		e.Hint = "View sees its rows where they are"
		return nil, e
	}
	return v.Data, nil
}

// View is a column where it lies: the values of row i are Row(i), of which there are Width.
// Otherwise it is as Column.
func View[T Value](d *Dataset, name string) (layout.Strided[T], error) {
	release, err := d.acquire()
	if err != nil {
		return layout.Strided[T]{}, err
	}
	defer release()
	c, err := d.column(name)
	if err != nil {
		return layout.Strided[T]{}, err
	}
	if err := checkType[T](fmt.Sprintf("column %q", name), c.DType); err != nil {
		return layout.Strided[T]{}, err
	}
	return view[T](d.data, c)
}

// view sees a column whose dtype is that of T; the caller holds the maps.
func view[T Value](d *layout.Data, c *layout.ManifestColumn) (layout.Strided[T], error) {
	raw, err := layout.View[uint8](d, c)
	return layout.Strided[T]{Data: cast[T](raw.Data), Step: raw.Step, Width: raw.Width,
		Rows: raw.Rows}, err
}

// cast sees bytes as values. The bytes begin at a multiple of the values' size: those of maps do,
// by the checks of the layout.
func cast[T Value](b []byte) []T {
	var zero T
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// castBytes returns values as bytes.
func castBytes[T Value](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(zero)))
}
