package ingest

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/tensorcache/tensorcache/layout"
)

// arrowKinds are the Arrow types that are values as they are.
var arrowKinds = map[arrow.Type]kind{
	arrow.BOOL: kindBool, arrow.INT8: kindInt32, arrow.INT16: kindInt32, arrow.INT32: kindInt32, arrow.INT64: kindInt64,
	arrow.UINT8: kindInt32, arrow.UINT16: kindInt32, arrow.UINT32: kindInt64, arrow.UINT64: kindInt64,
	arrow.FLOAT16: kindFloat32, arrow.FLOAT32: kindFloat32, arrow.FLOAT64: kindFloat64,
	arrow.STRING: kindText, arrow.LARGE_STRING: kindText, arrow.STRING_VIEW: kindText,
	arrow.DATE32: kindTime, arrow.DATE64: kindTime, arrow.TIMESTAMP: kindTime,
}

// arrowColumn refuses types that have no counterpart.
func arrowColumn(t arrow.DataType) (column, error) {
	if list, ok := t.(*arrow.FixedSizeListType); ok {
		c, err := arrowColumn(list.Elem())
		if err != nil || c.width > 0 || c.kind == kindText || list.Len() < 1 {
			return c, fmt.Errorf("is %s, which is not read", t)
		}
		c.width = int64(list.Len())
		return c, nil
	}
	if d, ok := t.(*arrow.DictionaryType); ok && arrowKinds[d.ValueType.ID()] == kindText {
		return column{kind: kindText}, nil
	}
	k, ok := arrowKinds[t.ID()]
	if !ok {
		return column{}, fmt.Errorf("is %s, which is not read", t)
	}
	c := column{kind: k}
	switch t := t.(type) {
	case *arrow.TimestampType:
		c.unit, c.zone = units[t.Unit], t.TimeZone
	case *arrow.Date32Type:
		c.unit, c.source = "s", "date"
	case *arrow.Date64Type:
		c.unit, c.source = "ms", "date"
	default:
		if name := t.Name(); k != kindText && name != k.String() && k != kindBool && name != "float" && name != "double" {
			c.source = arrowNames[t.ID()]
		}
	}
	return c, nil
}

// arrowNames are the dtypes that the cache does not store, as users write them.
var arrowNames = map[arrow.Type]string{
	arrow.INT8: "int8", arrow.INT16: "int16", arrow.UINT8: "uint8", arrow.UINT16: "uint16", arrow.UINT32: "uint32", arrow.UINT64: "uint64", arrow.FLOAT16: "float16",
}

// arrowBatch writes one column of one batch.
type arrowBatch struct {
	target
	row int64 // the batch's first row in the stream
}

func (b arrowBatch) write(a arrow.Array) error {
	if list, ok := a.(*array.FixedSizeList); ok {
		if list.NullN() > 0 {
			return b.null(firstNull(list))
		}
		width := b.width
		begin := int64(list.Data().Offset()) * width
		child := array.NewSlice(list.ListValues(), begin, begin+int64(list.Len())*width)
		defer child.Release()
		return b.write(child)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return b.bools(a)
	case *array.Int8:
		return putArrow(b, a, a.Int8Values())
	case *array.Int16:
		return putArrow(b, a, a.Int16Values())
	case *array.Int32:
		return putArrow(b, a, a.Int32Values())
	case *array.Int64:
		return putArrow(b, a, a.Int64Values())
	case *array.Uint8:
		return putArrow(b, a, a.Uint8Values())
	case *array.Uint16:
		return putArrow(b, a, a.Uint16Values())
	case *array.Uint32:
		return putArrow(b, a, a.Uint32Values())
	case *array.Uint64:
		return putArrow(b, a, a.Uint64Values())
	case *array.Float32:
		return putArrow(b, a, a.Float32Values())
	case *array.Float64:
		return putArrow(b, a, a.Float64Values())
	case *array.Timestamp:
		return putArrow(b, a, plain[int64](a.TimestampValues()))
	case *array.Date64:
		return putArrow(b, a, plain[int64](a.Date64Values()))
	}
	return b.other(a)
}

// other writes what must be converted or looked up first.
func (b arrowBatch) other(a arrow.Array) error {
	switch a := a.(type) {
	case *array.Float16:
		values := make([]float32, a.Len())
		for i, v := range a.Values() {
			values[i] = layout.HalfFromBits(v.Uint16()).Float32()
		}
		return putArrow(b, a, values)
	case *array.Date32:
		if err := putArrow(b, a, plain[int32](a.Date32Values())); err != nil {
			return err
		}
		if !multiply(b.dest, b.row0+b.row, int64(a.Len())/max(1, b.width), 86400) {
			return fmt.Errorf("a date is out of range")
		}
		return nil
	case *array.Dictionary:
		words, ok := a.Dictionary().(interface{ Value(int) string })
		if !ok || a.NullN() > 0 {
			return b.null(firstNull(a))
		}
		return b.texts(a.Len(), func(i int) string { return words.Value(a.GetValueIndex(i)) })
	case interface{ Value(int) string }:
		if n := firstNull(a.(arrow.Array)); n >= 0 {
			return b.null(n)
		}
		return b.texts(a.(arrow.Array).Len(), a.Value)
	}
	return fmt.Errorf("is %s, which is not read", a.DataType())
}

// plain sees values of a named type as what they are.
func plain[T, N ~int32 | ~int64](values []N) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// putArrow writes values; the nulls among them become NaN in a float column and are refused in others.
func putArrow[S number](b arrowBatch, a arrow.Array, values []S) error {
	width := int(max(1, b.width))
	step := max(1, tileRows/width) * width
	var tile []S
	nan, float := notANumber[S]()
	for i := 0; i < len(values); i += step {
		src := values[i:min(len(values), i+step)]
		if a.NullN() > 0 {
			if tile = append(tile[:0], src...); !float {
				if n := firstNull(a); n >= 0 {
					return b.null(n / width)
				}
			}
			for j := range tile {
				if a.IsNull(i + j) {
					tile[j] = nan
				}
			}
			src = tile
		}
		bad := checkCells(b.kind, src)
		if bad < 0 {
			bad = put(b.dest, b.row0+b.row+int64(i/width), src)
		}
		if bad >= 0 {
			return &SourceError{Column: b.name, Row: b.row + int64((i+bad)/width) + 1, Text: fmt.Sprint(src[bad]), Reason: "does not fit " + string(b.dest.DType)}
		}
	}
	return nil
}

// notANumber is NaN where S is a float type.
func notANumber[S number]() (nan S, ok bool) {
	switch p := any(&nan).(type) {
	case *float32:
		*p, ok = float32(math.NaN()), true
	case *float64:
		*p, ok = math.NaN(), true
	}
	return nan, ok
}

func (b arrowBatch) bools(a *array.Boolean) error {
	if n := firstNull(a); n >= 0 {
		return b.null(n / int(max(1, b.width)))
	}
	cells := make([]uint8, a.Len())
	for i := range cells {
		if a.Value(i) {
			cells[i] = 1
		}
	}
	put(b.dest, b.row0+b.row, cells)
	return nil
}

func (b arrowBatch) texts(n int, word func(i int) string) error {
	last := ""
	code := []int32{-1}
	for i := range n {
		if w := word(i); code[0] < 0 || w != last {
			if err := checkWord([]byte(w), b.row+int64(i)); err != nil {
				return err
			}
			last, code[0] = w, b.dict.code([]byte(w))
		}
		put(b.dest, b.row0+b.row+int64(i), code)
	}
	return nil
}

// firstNull is the place of the first null, -1 where there is none.
func firstNull(a arrow.Array) int {
	if a.NullN() == 0 {
		return -1
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			return i
		}
	}
	return -1
}

// null refuses a null in a column that cannot say so. Rows count from the batch's first here.
func (b arrowBatch) null(row int) error {
	return &SourceError{Column: b.name, Row: b.row + int64(row) + 1, Reason: "the value " + b.needs(), Hint: "fill the nulls before they are sent"}
}
