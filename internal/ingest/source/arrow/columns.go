package arrow

import (
	"fmt"
	"math/big"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/float16"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// kindOf maps Arrow types to the kinds of their values.
var kindOf = map[arrow.Type]column.Kind{
	arrow.NULL: column.KindUnknown, arrow.BOOL: column.KindBool,
	arrow.INT8: column.KindInt8, arrow.INT16: column.KindInt16,
	arrow.INT32: column.KindInt32, arrow.INT64: column.KindInt64,
	arrow.UINT8: column.KindUint8, arrow.UINT16: column.KindUint16,
	arrow.UINT32: column.KindUint32, arrow.UINT64: column.KindUint64,
	arrow.FLOAT16: column.KindFloat16, arrow.FLOAT32: column.KindFloat32,
	arrow.FLOAT64:    column.KindFloat64,
	arrow.DECIMAL128: column.KindFloat64, arrow.DECIMAL256: column.KindFloat64,
	arrow.STRING: column.KindText, arrow.LARGE_STRING: column.KindText,
	arrow.STRING_VIEW: column.KindText,
	arrow.DATE32:      column.KindTime, arrow.DATE64: column.KindTime,
	arrow.TIMESTAMP: column.KindTime,
	arrow.DURATION:  column.KindDuration,
	arrow.TIME32:    column.KindDuration, arrow.TIME64: column.KindDuration,
}

// columnOf returns the column type of an Arrow type. It returns an error for a type that cannot be
// loaded.
func columnOf(t arrow.DataType) (column.Column, error) {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		c, err := columnOf(t.Elem())
		if err != nil || c.Width > 0 || c.Kind == column.KindText || c.Kind == column.KindUnknown ||
			t.Len() < 1 {
			return c, fmt.Errorf("is %s, which is not read", t)
		}
		c.Width = int64(t.Len())
		return c, nil
	case *arrow.DictionaryType:
		return columnOf(t.ValueType)
	case *arrow.ListType, *arrow.LargeListType:
		return column.Column{}, &loaderr.HintedError{
			Reason: fmt.Sprintf("is %s, whose rows may differ in length", t),
			Hint:   "cast it to a fixed_size_list, as pyarrow's cast does if all rows have the same length, or leave the column out",
		}
	}
	k, ok := kindOf[t.ID()]
	if !ok {
		return column.Column{}, fmt.Errorf("is %s, which is not read", t)
	}
	c := column.Column{Kind: k}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if c.Unit, c.Zone = textvalue.Units[t.Unit], t.TimeZone; !utf8.ValidString(c.Zone) {
			return c, &loaderr.HintedError{
				Reason: fmt.Sprintf("has a time zone %q, which is not UTF-8", c.Zone),
				Hint:   loaderr.HintDamaged,
			}
		}
	case *arrow.DurationType:
		c.Unit = textvalue.Units[t.Unit]
	case *arrow.Time32Type: // a time of day, as the duration since midnight
		c.Unit, c.Source = textvalue.Units[t.Unit], "time"
	case *arrow.Time64Type:
		c.Unit, c.Source = textvalue.Units[t.Unit], "time"
	case *arrow.Date32Type:
		c.Unit, c.Source = "s", "date"
	case *arrow.Date64Type:
		c.Unit, c.Source = "ms", "date"
	case arrow.DecimalType:
		c.Decimal = true
		c.Source = fmt.Sprintf("decimal(%d, %d)", t.GetPrecision(), t.GetScale())
	}
	return c, nil
}

// batchColumn writes one column of one record batch.
type batchColumn struct {
	source.Target
	row int64 // first row of the batch in the stream
}

// write writes the values of an array to the destination.
func (b batchColumn) write(a arrow.Array) error {
	if list, ok := a.(*array.FixedSizeList); ok {
		return b.writeLists(list)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return b.writeBools(a)
	case *array.Int8:
		return writeValues(b, a, a.Int8Values())
	case *array.Int16:
		return writeValues(b, a, a.Int16Values())
	case *array.Int32:
		return writeValues(b, a, a.Int32Values())
	case *array.Int64:
		return writeValues(b, a, a.Int64Values())
	case *array.Uint8:
		return writeValues(b, a, a.Uint8Values())
	case *array.Uint16:
		return writeValues(b, a, a.Uint16Values())
	case *array.Uint32:
		return writeValues(b, a, a.Uint32Values())
	case *array.Uint64:
		return writeValues(b, a, a.Uint64Values())
	case *array.Float32:
		return writeValues(b, a, a.Float32Values())
	case *array.Float64:
		return writeValues(b, a, a.Float64Values())
	case *array.Float16:
		return writeValues(b, a, reinterpret[layout.Half](a.Values()))
	case *array.Timestamp:
		return writeValues(b, a, reinterpret[int64](a.TimestampValues()))
	case *array.Date64:
		return writeValues(b, a, reinterpret[int64](a.Date64Values()))
	case *array.Duration:
		return writeValues(b, a, reinterpret[int64](a.DurationValues()))
	case *array.Time32:
		return writeValues(b, a, reinterpret[int32](a.Time32Values()))
	case *array.Time64:
		return writeValues(b, a, reinterpret[int64](a.Time64Values()))
	}
	return b.writeConverted(a)
}

// writeLists writes fixed-size lists, one run of valid lists at a time. The values of a null list
// are undefined and are not read.
func (b batchColumn) writeLists(list *array.FixedSizeList) error {
	if n := firstNull(list); n >= 0 && !b.Dest.CanMiss() {
		return b.nullError(n)
	}
	for i, end := 0, 0; i < list.Len(); i = end {
		valid := list.IsValid(i)
		for end = i + 1; end < list.Len() && (list.NullN() == 0 || list.IsValid(end) == valid); {
			end++
		}
		part := b
		part.row += int64(i)
		if !valid {
			column.WriteMissing(b.Dest, b.Row0+part.row, int64(end-i))
			continue
		}
		first := int64(list.Data().Offset())
		child := array.NewSlice(list.ListValues(), (first+int64(i))*b.Width,
			(first+int64(end))*b.Width)
		err := part.write(child)
		child.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeConverted writes types that must be converted or decoded from a dictionary.
func (b batchColumn) writeConverted(a arrow.Array) error {
	switch a := a.(type) {
	case *array.Null:
		if a.Len() > 0 && !column.WriteMissing(b.Dest, b.Row0+b.row, int64(a.Len())) {
			return b.nullError(0)
		}
		return nil
	case *array.Date32:
		if err := writeValues(b, a, reinterpret[int32](a.Date32Values())); err != nil {
			return err
		}
		// No overflow: days have 32 bits.
		column.Multiply(b.Dest, b.Row0+b.row, int64(a.Len())/max(1, b.Width), 86400)
		return nil
	case *array.Decimal128:
		return b.writeDecimals(a, func(i int) *big.Int { return a.Value(i).BigInt() })
	case *array.Decimal256:
		return b.writeDecimals(a, func(i int) *big.Int { return a.Value(i).BigInt() })
	case *array.Dictionary:
		return b.writeDictionary(a)
	case stringArray:
		return b.writeTexts(a, func(i int) (string, bool) { return a.Value(i), a.IsValid(i) })
	}
	return fmt.Errorf("is %s, which is not read", a.DataType())
}

// writeDecimals writes decimals as the nearest float64. As items and times it writes integers.
func (b batchColumn) writeDecimals(a arrow.Array, unscaled func(i int) *big.Int) error {
	scale := a.DataType().(arrow.DecimalType).GetScale()
	if !b.Kind.IsInteger() {
		values := make([]float64, a.Len())
		for i := range values {
			values[i] = column.BigDecimal(unscaled(i), scale)
		}
		return writeValues(b, a, values)
	}
	values := make([]int64, a.Len())
	for i := range values {
		if a.IsNull(i) {
			continue
		}
		v, ok := column.DecimalInteger(unscaled(i), scale)
		if !ok {
			return b.RangeError(b.row+int64(i)+1, column.DecimalText(unscaled(i), scale))
		}
		values[i] = v
	}
	return writeValues(b, a, values)
}

// stringArray is an array of strings with offsets of any width.
type stringArray interface {
	arrow.Array
	Value(i int) string
}

// reinterpret returns values of a named type as values of their underlying type, without a copy.
func reinterpret[T column.Storable, N ~int32 | ~int64 | float16.Num](values []N) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// writeValues writes values. Nulls become NaN in a float column and missing values in other
// columns. If the column cannot have missing values, writeValues returns an error.
func writeValues[S column.Storable](b batchColumn, a arrow.Array, values []S) error {
	if n := firstNull(a); n >= 0 && !b.Dest.CanMiss() {
		return b.nullError(n / int(max(1, b.Width)))
	}
	width := int(max(1, b.Width))
	step := max(1, column.LookupRows/width) * width
	var buffer []S
	nan, float := column.NotANumber[S]()
	for i := 0; i < len(values); i += step {
		src := values[i:min(len(values), i+step)]
		if a.NullN() > 0 { // the value of a null is undefined
			buffer = append(buffer[:0], src...)
			for j := range buffer {
				if a.IsNull(i + j) {
					buffer[j] = nan
				}
			}
			src = buffer
		}
		bad := column.CheckCells(b.Kind, src)
		if bad < 0 {
			bad = column.Write(b.Dest, b.Row0+b.row+int64(i/width), src)
		}
		if bad >= 0 {
			return b.RangeError(b.row+int64((i+bad)/width)+1, src[bad])
		}
		for j := range src {
			if !float && a.NullN() > 0 && a.IsNull(i+j) { // a later step fills it
				column.WriteMissing(b.Dest.Feature(int64((i+j)%width)), b.Row0+b.row+
					int64((i+j)/width), 1)
			}
		}
	}
	return nil
}

// writeBools writes booleans as bytes.
func (b batchColumn) writeBools(a *array.Boolean) error {
	width := int(max(1, b.Width))
	if n := firstNull(a); n >= 0 && !b.Dest.CanMiss() {
		return b.nullError(n / width)
	}
	cells := make([]uint8, a.Len())
	for i := range cells {
		if a.Value(i) {
			cells[i] = 1
		}
	}
	column.Write(b.Dest, b.Row0+b.row, cells)
	for i := range cells {
		if a.NullN() > 0 && a.IsNull(i) { // a later step fills it
			column.WriteMissing(b.Dest.Feature(int64(i%width)), b.Row0+b.row+int64(i/width), 1)
		}
	}
	return nil
}

// writeTexts writes the dictionary codes of texts. The code of a null is -1.
func (b batchColumn) writeTexts(a arrow.Array, word func(i int) (w string, ok bool)) error {
	last := ""
	code := []int32{-1}
	for i := range a.Len() {
		w, ok := word(i)
		switch {
		case !ok && b.Role != layout.RoleValue:
			return b.nullError(i)
		case !ok:
			code[0] = -1
		case code[0] < 0 || w != last:
			if err := source.CheckText([]byte(w), b.Role, b.row+int64(i)); err != nil {
				return err
			}
			last, code[0] = w, b.Words.Code([]byte(w))
		}
		column.Write(b.Dest, b.Row0+b.row+int64(i), code)
	}
	return nil
}

// firstNull returns the index of the first null, -1 if there is none.
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

// nullError returns the error for a null in a column that cannot hold missing values. row counts
// from the first row of the batch.
func (b batchColumn) nullError(row int) error {
	return b.MissingError(b.row + int64(row) + 1)
}
