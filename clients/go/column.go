package tensorcache

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// Value is the set of Go types of columns and batches. Dtypes have the Go type of the same name,
// except that float16 is [layout.Half], timestamps and durations are int64 in their unit, and texts
// are int32 codes (−1 is missing).
type Value interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | layout.Half
}

// goTypes maps dtypes to their Go types.
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

// checkType returns an error that wraps ErrType if T is not the Go type of a dtype.
func checkType[T Value](what string, dtype layout.DType) error {
	if want, got := goTypes[dtype], reflect.TypeFor[T](); want != got {
		return fmt.Errorf("%w: %s is %s, so ask for %s and not for %s", ErrType, what,
			dtype, want, got)
	}
	return nil
}

// Column returns all rows of a column as a slice of the mapped file. The caller must not write to
// it, and it is valid until d.Close. A column of shape [rows, n] has its rows one after the other.
// The error wraps ErrType if T is not the column's type, and is of type InvalidRequest if the
// column's rows are not contiguous, as in layout packed. Use [View] for these.
func Column[T Value](d *Dataset, name string) ([]T, error) {
	v, err := View[T](d, name)
	if err != nil {
		return nil, err
	}
	if !v.Contiguous() {
		e := errorf(InvalidRequest, name, "column %q lies among others, in layout %q", name,
			d.data.Manifest.Layout)
		e.Hint = "View sees its rows where they are"
		return nil, e
	}
	return v.Data, nil
}

// View returns a column with rows of any distance, as slices of the mapped file: Row(i) has the
// Width values of row i. Lifetime and errors are those of [Column].
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

// view returns a column whose dtype is that of T. The caller keeps the files mapped.
func view[T Value](d *layout.Data, c *layout.ManifestColumn) (layout.Strided[T], error) {
	raw, err := layout.View[uint8](d, c)
	return layout.Strided[T]{Data: valuesOfBytes[T](raw.Data), Step: raw.Step, Width: raw.Width,
		Rows: raw.Rows}, err
}

// valuesOfBytes returns bytes as values, without a copy. The bytes must be aligned for T; those of
// maps are, because layout checks it.
func valuesOfBytes[T Value](b []byte) []T {
	var zero T
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// bytesOfValues returns values as bytes, without a copy. They are little-endian, because every
// machine that runs a daemon is.
func bytesOfValues[T Value](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(zero)))
}
