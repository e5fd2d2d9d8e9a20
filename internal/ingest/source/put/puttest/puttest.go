// Package puttest provides arrays and Arrow streams for tests of put, and checks of the loaded
// values.
//
// [EveryArray] and [ArrowBytes] return the same values in both formats of a put, and [CheckValues]
// checks them in the generation. Only the columns d and w have other values in Arrow.
package puttest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	half "github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
)

// ColumnBytes returns the header of a column and its bytes, as a client sends them over the socket.
// values is a []string, or a slice of numbers.
func ColumnBytes(t *testing.T, name, dtype string, shape []int64, values any) (put.Column, []byte) {
	t.Helper()
	var b bytes.Buffer
	if texts, ok := values.([]string); ok {
		offsets := make([]int64, len(texts)+1)
		for i, text := range texts {
			offsets[i+1] = offsets[i] + int64(len(text))
		}
		_ = binary.Write(&b, binary.LittleEndian, offsets)
		b.WriteString(strings.Join(texts, ""))
	} else if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return put.Column{Name: name, DType: dtype, Shape: shape, Bytes: int64(b.Len())}, b.Bytes()
}

// EveryArray returns the header and the bytes of columns of all dtypes and of both shapes, with 3
// rows.
func EveryArray(t *testing.T) (p put.Header, sent []byte) {
	t.Helper()
	p.Format = put.FormatColumns
	add := func(name, dtype, unit string, shape []int64, values any) {
		c, b := ColumnBytes(t, name, dtype, shape, values)
		c.Unit = unit
		p.Columns, sent = append(p.Columns, c), append(sent, b...)
	}
	add("f4", "float32", "", []int64{3}, []float32{1.5, float32(math.NaN()), -2})
	add("id", "utf8", "", []int64{3}, []string{"b", "b", "ünï"})
	add("t", "timestamp", "ms", []int64{3}, []int64{1, 2, 1})
	add("f8", "float64", "", []int64{3, 2}, []float64{1, 2, 3, 4, 5, 6})
	add("i4", "int32", "", []int64{3}, []int32{math.MinInt32, 0, math.MaxInt32})
	add("i8", "int64", "", []int64{3}, []int64{math.MinInt64, 0, math.MaxInt64})
	add("b", "bool", "", []int64{3}, []uint8{1, 0, 1})
	add("f2", "float16", "", []int64{3}, []uint16{0x3c00, 0x0400, 0xfc00})
	add("i1", "int8", "", []int64{3}, []int8{-128, 0, 127})
	add("u2", "uint16", "", []int64{3}, []uint16{0, 1, 65535})
	add("u4", "uint32", "", []int64{3}, []uint32{0, 1, math.MaxUint32})
	add("u8", "uint64", "", []int64{3}, []uint64{0, 1, math.MaxUint64})
	add("u1", "uint8", "", []int64{3}, []uint8{0, 1, 255})
	add("i2", "int16", "", []int64{3, 2}, []int16{-1, 0, 1, 2, 3, math.MinInt16})
	add("d", "duration", "us", []int64{3}, []int64{-5, 0, 7})
	add("w", "utf8", "", []int64{3}, []string{"tech", "", "food"})
	return p, sent
}

// CheckValues checks the columns that EveryArray and ArrowBytes have in common, except id, t, d and
// w.
func CheckValues(t *testing.T, l loadtest.Loaded) {
	t.Helper()
	if got := loadtest.Values[float32](l, "f4"); got[0] != 1.5 || got[1] == got[1] || got[2] != -2 {
		t.Errorf("f4 is %v", got)
	}
	if got := loadtest.Values[float64](l, "f8"); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("f8 is %v", got)
	}
	if got := loadtest.Values[int32](l, "i4"); !slices.Equal(got,
		[]int32{math.MinInt32, 0, math.MaxInt32}) {
		t.Errorf("i4 is %v", got)
	}
	if got := loadtest.Values[int64](l, "i8"); !slices.Equal(got,
		[]int64{math.MinInt64, 0, math.MaxInt64}) {
		t.Errorf("i8 is %v", got)
	}
	if got := loadtest.Values[uint8](l, "b"); !slices.Equal(got, []uint8{1, 0, 1}) {
		t.Errorf("b is %v", got)
	}
	if got := loadtest.Texts(l, "f2"); !slices.Equal(got, []string{
		loadtest.FloatText(1), loadtest.FloatText(0x1p-14), loadtest.FloatText(math.Inf(-1)),
	}) {
		t.Errorf("f2 is %v", got)
	}
	CheckTexts(t, l, map[string][]string{
		"i1": {"-128", "0", "127"},
		"u2": {"0", "1", "65535"},
		"u4": {"0", "1", "4294967295"},
		"u8": {"0", "1", "18446744073709551615"},
	})
}

// CheckTexts compares the [loadtest.Texts] of each named column with the wanted ones.
func CheckTexts(t *testing.T, l loadtest.Loaded, columns map[string][]string) {
	t.Helper()
	for name, want := range columns {
		if got := loadtest.Texts(l, name); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// ArrowBytes returns an Arrow stream of two compressed batches, with 3 rows and columns of many
// types.
func ArrowBytes(t *testing.T) []byte {
	t.Helper()
	list := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "f4", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "w", Type: dictionary},
		{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "f8", Type: list},
		{Name: "i4", Type: arrow.PrimitiveTypes.Int32},
		{Name: "i8", Type: arrow.PrimitiveTypes.Int64},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "f2", Type: arrow.FixedWidthTypes.Float16},
		{Name: "i1", Type: arrow.PrimitiveTypes.Int8},
		{Name: "u2", Type: arrow.PrimitiveTypes.Uint16},
		{Name: "u4", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "u8", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
	for _, rows := range [][2]int{{0, 2}, {2, 3}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := rows[0]; i < rows[1]; i++ {
			if i == 1 {
				b.Field(0).AppendNull()
			} else {
				b.Field(0).(*array.Float32Builder).Append([]float32{1.5, 0, -2}[i])
			}
			b.Field(1).(*array.StringBuilder).Append([]string{"b", "b", "ünï"}[i])
			_ = b.Field(2).(*array.BinaryDictionaryBuilder).AppendString([]string{"x", "x", "y"}[i])
			b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp([]int64{1, 2, 1}[i]))
			b.Field(4).(*array.FixedSizeListBuilder).Append(true)
			b.Field(4).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Float64Builder).AppendValues(
				[]float64{float64(2*i + 1), float64(2*i + 2)}, nil)
			b.Field(5).(*array.Int32Builder).Append([]int32{math.MinInt32, 0, math.MaxInt32}[i])
			b.Field(6).(*array.Int64Builder).Append([]int64{math.MinInt64, 0, math.MaxInt64}[i])
			b.Field(7).(*array.BooleanBuilder).Append(i != 1)
			b.Field(8).(*array.Float16Builder).Append(
				half.New([]float32{1, 0x1p-14, float32(math.Inf(-1))}[i]))
			b.Field(9).(*array.Int8Builder).Append([]int8{-128, 0, 127}[i])
			b.Field(10).(*array.Uint16Builder).Append([]uint16{0, 1, 65535}[i])
			b.Field(11).(*array.Uint32Builder).Append([]uint32{0, 1, math.MaxUint32}[i])
			b.Field(12).(*array.Uint64Builder).Append([]uint64{0, 1, math.MaxUint64}[i])
			b.Field(13).(*array.Date32Builder).Append(arrow.Date32(i - 1))
		}
		batch := b.NewRecord()
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		batch.Release()
		b.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// ArrowFileBytes returns the first batch of ArrowBytes twice, as an Arrow file and as an Arrow
// stream.
func ArrowFileBytes(t *testing.T, more ...ipc.Option) (file, stream []byte) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(ArrowBytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	path := filepath.Join(t.TempDir(), "x")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s bytes.Buffer
	options := append(more, ipc.WithSchema(r.Schema()))
	fw, err := ipc.NewFileWriter(f, options...)
	if err != nil {
		t.Fatal(err)
	}
	sw := ipc.NewWriter(&s, options...)
	// Both batches are the same, because a file has one dictionary per column.
	if !r.Next() {
		t.Fatal(r.Err())
	}
	for range 2 {
		if err := errors.Join(fw.Write(r.Record()), sw.Write(r.Record())); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Err(), fw.Close(), sw.Close()); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return file, s.Bytes()
}
