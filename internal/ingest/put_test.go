package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	half "github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// receivedFrom loads what was sent, in this process.
func receivedFrom(t *testing.T, o option.Options, p put.Header, sent []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	_, err := runRequest(context.Background(), Request{Dir: dir, Options: o, Put: &p, Conn: bytes.NewReader(sent)}, &progress.Meter{})
	return dir, err
}

// columnBytes are a header and its values as they go over the socket.
func columnBytes(t *testing.T, name, dtype string, shape []int64, values any) (put.Column, []byte) {
	t.Helper()
	var b bytes.Buffer
	if words, ok := values.([]string); ok {
		offsets := make([]int64, len(words)+1)
		for i, w := range words {
			offsets[i+1] = offsets[i] + int64(len(w))
		}
		_ = binary.Write(&b, binary.LittleEndian, offsets)
		b.WriteString(strings.Join(words, ""))
	} else if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return put.Column{Name: name, DType: dtype, Shape: shape, Bytes: int64(b.Len())}, b.Bytes()
}

// everyArray are columns of all dtypes and of both shapes.
func everyArray(t *testing.T) (p put.Header, sent []byte) {
	t.Helper()
	p.Format = put.FormatColumns
	add := func(name, dtype, unit string, shape []int64, values any) {
		c, b := columnBytes(t, name, dtype, shape, values)
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

func TestArraysArrive(t *testing.T) {
	p, sent := everyArray(t)
	for _, o := range []option.Options{{ItemID: []string{"id"}, Time: "t"}, {ItemID: []string{"id"}, Time: "t", Layout: layout.Packed}} {
		dir, err := receivedFrom(t, o, p, sent)
		if err != nil {
			t.Fatal(err)
		}
		l := openDir(t, dir)
		checkValues(t, l)
		checkTexts(t, l, map[string][]string{"u1": {"0", "1", "255"}, "i2": {"-1", "0", "1", "2", "3", "-32768"}, "d": {"-5", "0", "7"}, "w": {"tech", "", "food"}})
		if c, err := l.Manifest.Column("d"); err != nil || c.Unit != "us" || c.DType != layout.Duration {
			t.Errorf("d is %+v, %v", c, err)
		}
		if got := texts(l, "id"); !slices.Equal(got, []string{"b", "b", "ünï"}) {
			t.Errorf("id is %q", got)
		}
		if c, _ := l.Manifest.Column("f8"); c.Width() != 2 {
			t.Errorf("f8 has shape %v", c.Shape)
		}
		if c, _ := l.Manifest.Column("t"); c.Unit != "ms" || c.DType != layout.Timestamp {
			t.Errorf("t is %s %s", c.DType, c.Unit)
		}
	}
	// Chosen columns; what is not chosen is skipped, and floats are narrowed.
	dir, err := receivedFrom(t, option.Options{Columns: []string{"u4", "f8"}, DType: option.Floats("float32"), Scale: option.All("minmax")}, p, sent)
	if err != nil {
		t.Fatal(err)
	}
	l := openDir(t, dir)
	if got := values[float32](l, "f8"); !slices.Equal(got, []float32{0, 0, 0.5, 0.5, 1, 1}) {
		t.Errorf("f8 scaled is %v", got)
	}
}

func checkValues(t *testing.T, l loaded) {
	t.Helper()
	if got := values[float32](l, "f4"); got[0] != 1.5 || got[1] == got[1] || got[2] != -2 {
		t.Errorf("f4 is %v", got)
	}
	if got := values[float64](l, "f8"); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("f8 is %v", got)
	}
	if got := values[int32](l, "i4"); !slices.Equal(got, []int32{math.MinInt32, 0, math.MaxInt32}) {
		t.Errorf("i4 is %v", got)
	}
	if got := values[int64](l, "i8"); !slices.Equal(got, []int64{math.MinInt64, 0, math.MaxInt64}) {
		t.Errorf("i8 is %v", got)
	}
	if got := values[uint8](l, "b"); !slices.Equal(got, []uint8{1, 0, 1}) {
		t.Errorf("b is %v", got)
	}
	if got := texts(l, "f2"); !slices.Equal(got, []string{floatText(1), floatText(0x1p-14), floatText(math.Inf(-1))}) {
		t.Errorf("f2 is %v", got)
	}
	checkTexts(t, l, map[string][]string{"i1": {"-128", "0", "127"}, "u2": {"0", "1", "65535"}, "u4": {"0", "1", "4294967295"}, "u8": {"0", "1", "18446744073709551615"}})
}

func checkTexts(t *testing.T, l loaded, columns map[string][]string) {
	t.Helper()
	for name, want := range columns {
		if got := texts(l, name); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A negative offset says that the text before it is missing.
func TestTextsMayBeMissing(t *testing.T) {
	c, b := columnBytes(t, "w", "utf8", []int64{4}, []string{"", "b", "", "b"})
	missing := func(at ...int) []byte {
		out := slices.Clone(b)
		for _, i := range at {
			o := int64(binary.LittleEndian.Uint64(out[8*i:]))
			binary.LittleEndian.PutUint64(out[8*i:], uint64(-o-1))
		}
		return out
	}
	p := put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}
	dir, err := receivedFrom(t, option.Options{}, p, missing(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	l := openDir(t, dir)
	if got := values[int32](l, "w"); !slices.Equal(got, []int32{-1, 0, -1, 0}) || l.Manifest.Columns[0].Missing != 2 || l.Manifest.Vocab["w"].Count != 1 {
		t.Errorf("codes %v, %+v, %+v", got, l.Manifest.Columns[0], l.Manifest.Vocab)
	}
	_, err = receivedFrom(t, option.Options{ItemID: []string{"w"}}, p, missing(1, 3))
	loadtest.Refused(t, err, `row 1, column "w": the value is missing, but an item needs a name`, "")
	_, err = receivedFrom(t, option.Options{}, p, missing(2))
	loadtest.Refused(t, err, `row 2, column "w": a text from byte 0 to 1`, "")
}

func TestArraysThatAreRefused(t *testing.T) {
	whole := func(name, dtype string, shape []int64, values any) func(*testing.T) (put.Header, []byte) {
		return func(t *testing.T) (put.Header, []byte) {
			c, b := columnBytes(t, name, dtype, shape, values)
			return put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, b
		}
	}
	head := func(c ...put.Column) func(*testing.T) (put.Header, []byte) {
		return func(*testing.T) (put.Header, []byte) { return put.Header{Format: put.FormatColumns, Columns: c}, nil }
	}
	for _, c := range []struct {
		name, want string
		make       func(*testing.T) (put.Header, []byte)
		o          option.Options
	}{
		{"early end", "the connection ended after 10 of 24 bytes", func(t *testing.T) (put.Header, []byte) {
			p, b := whole("a", "int64", []int64{3}, []int64{1, 2, 3})(t)
			return p, b[:10]
		}, option.Options{}},
		{"early end of a column that is not wanted", "the connection ended after 24 of 48 bytes", func(t *testing.T) (put.Header, []byte) {
			a, b := columnBytes(t, "a", "int64", []int64{3}, []int64{1, 2, 3})
			d := a
			d.Name = "d"
			return put.Header{Format: put.FormatColumns, Columns: []put.Column{a, d}}, b
		}, option.Options{Columns: []string{"a"}}},
		{"no columns", "no columns were sent", head(), option.Options{}},
		{"no rows", "the columns have no rows", head(put.Column{Name: "a", DType: "bool", Shape: []int64{0}}), option.Options{}},
		{"no name", "a column has no name", head(put.Column{DType: "bool", Shape: []int64{1}, Bytes: 1}), option.Options{}},
		{"dtype", `column "a": dtype "complex64" is none of`, head(put.Column{Name: "a", DType: "complex64", Shape: []int64{1}}), option.Options{}},
		{"shape", "has shape [1 2 3], want [rows] or [rows, n]", head(put.Column{Name: "a", DType: "bool", Shape: []int64{1, 2, 3}}), option.Options{}},
		{"negative", "has shape [-1], which cannot be stored", head(put.Column{Name: "a", DType: "bool", Shape: []int64{-1}}), option.Options{}},
		{"huge", "which cannot be stored", head(put.Column{Name: "a", DType: "float64", Shape: []int64{1 << 60, 8}}), option.Options{}},
		{"bytes", "has 9 bytes, want 8 for float64 of shape [1]", head(put.Column{Name: "a", DType: "float64", Shape: []int64{1}, Bytes: 9}), option.Options{}},
		{"rows differ", `column "b": has 2 rows, column "a" has 1`, head(put.Column{Name: "a", DType: "bool", Shape: []int64{1}, Bytes: 1}, put.Column{Name: "b", DType: "bool", Shape: []int64{2}, Bytes: 2}), option.Options{}},
		{"unit", `has time unit "h", want one of s, ms, us, ns`, head(put.Column{Name: "a", DType: "timestamp", Unit: "h", Shape: []int64{1}, Bytes: 8}), option.Options{}},
		{"text of two axes", "is text of shape [1 1], want [rows]", head(put.Column{Name: "a", DType: "utf8", Shape: []int64{1, 1}, Bytes: 8}), option.Options{}},
		{"text bytes", "has 8 bytes, want 16 or more for 1 texts", head(put.Column{Name: "a", DType: "utf8", Shape: []int64{1}, Bytes: 8}), option.Options{}},
		{"truth", `row 2, column "a": "7" is no truth value, want 0 or 1`, whole("a", "bool", []int64{2}, []uint8{1, 7}), option.Options{}},
		{"too large", `row 2, column "a": "18446744073709551615" does not fit int64`, whole("a", "uint64", []int64{2}, []uint64{1, math.MaxUint64}), option.Options{Time: "a"}},
		{"narrow", `row 1, column "a": "1e+300" does not fit float32`, whole("a", "float64", []int64{1, 2}, []float64{1, 1e300}), option.Options{DType: option.Floats("float32")}},
		{"no number", `row 2, column "a": the value is missing, which only a float column can say`, whole("a", "float64", []int64{2}, []float64{1, math.NaN()}), option.Options{DType: option.DTypes{By: map[string]string{"a": "int8"}}}},
		{"half", `row 2, column "a": "300" does not fit int8`, whole("a", "float16", []int64{2}, []uint16{0x3c00, 0x5cb0}), option.Options{DType: option.DTypes{By: map[string]string{"a": "int8"}}}},
		{"no time", `row 2, column "a": "NaT" is no time`, func(t *testing.T) (put.Header, []byte) {
			p, b := whole("a", "int64", []int64{2}, []int64{1, math.MinInt64})(t)
			p.Columns[0].DType, p.Columns[0].Unit = "duration", "ms"
			return p, b
		}, option.Options{}},
		{"empty text", `row 2, column "a": the text is empty`, whole("a", "utf8", []int64{2}, []string{"x", ""}), option.Options{ItemID: []string{"a"}}},
		{"no such column", `columns: no column is named "b"`, whole("a", "bool", []int64{1}, []uint8{1}), option.Options{Columns: []string{"b"}}},
		{"wide time", "a time column holds timestamps, dates or integers, not int64[2]", whole("a", "int64", []int64{1, 2}, []int64{1, 2}), option.Options{Time: "a"}},
		{"format", `format: "pickle": want columns or arrow`, func(*testing.T) (put.Header, []byte) { return put.Header{Format: "pickle"}, nil }, option.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, b := c.make(t)
			_, err := receivedFrom(t, c.o, p, b)
			loadtest.Refused(t, err, c.want, "")
		})
	}
}

// arrowBytes is an Arrow stream of two batches with every type that is read.
func arrowBytes(t *testing.T) []byte {
	t.Helper()
	list := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "f4", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "id", Type: arrow.BinaryTypes.String}, {Name: "w", Type: words},
		{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}}, {Name: "f8", Type: list}, {Name: "i4", Type: arrow.PrimitiveTypes.Int32},
		{Name: "i8", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean}, {Name: "f2", Type: arrow.FixedWidthTypes.Float16},
		{Name: "i1", Type: arrow.PrimitiveTypes.Int8}, {Name: "u2", Type: arrow.PrimitiveTypes.Uint16}, {Name: "u4", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "u8", Type: arrow.PrimitiveTypes.Uint64}, {Name: "d", Type: arrow.FixedWidthTypes.Date32},
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
			b.Field(4).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Float64Builder).AppendValues([]float64{float64(2*i + 1), float64(2*i + 2)}, nil)
			b.Field(5).(*array.Int32Builder).Append([]int32{math.MinInt32, 0, math.MaxInt32}[i])
			b.Field(6).(*array.Int64Builder).Append([]int64{math.MinInt64, 0, math.MaxInt64}[i])
			b.Field(7).(*array.BooleanBuilder).Append(i != 1)
			b.Field(8).(*array.Float16Builder).Append(half.New([]float32{1, 0x1p-14, float32(math.Inf(-1))}[i]))
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

func TestArrowStreamArrives(t *testing.T) {
	sent := arrowBytes(t)
	dir, err := receivedFrom(t, option.Options{ItemID: []string{"id", "w"}, Time: "t"}, put.Header{Format: put.FormatArrow}, sent)
	if err != nil {
		t.Fatal(err)
	}
	l := openDir(t, dir)
	checkValues(t, l)
	if got := texts(l, "w"); !slices.Equal(got, []string{"x", "x", "y"}) {
		t.Errorf("w is %q", got)
	}
	if got := values[int64](l, "d"); !slices.Equal(got, []int64{-86400, 0, 86400}) {
		t.Errorf("d is %v", got)
	}
	if c, _ := l.Manifest.Column("t"); c.Unit != "ms" || c.Zone != "UTC" {
		t.Errorf("t is in %s %s", c.Unit, c.Zone)
	}
}

func TestArrowStreamCutAnywhereIsRefused(t *testing.T) {
	sent := arrowBytes(t)
	for n := range len(sent) {
		if n%7 != 0 && len(sent)-n > 20 {
			continue
		}
		_, err := receivedFrom(t, option.Options{ItemID: []string{"id", "w"}}, put.Header{Format: put.FormatArrow}, sent[:n])
		var s *loaderr.SourceError
		if !errors.As(err, &s) {
			t.Errorf("%d of %d bytes: %v", n, len(sent), err)
		}
	}
	_, err := receivedFrom(t, option.Options{}, put.Header{Format: put.FormatArrow}, sent[:len(sent)-8])
	loadtest.Refused(t, err, "ended after", "close the stream's writer")
	_, err = receivedFrom(t, option.Options{}, put.Header{Format: put.FormatArrow}, []byte("ARROW1\x00\x00 and more"))
	loadtest.Refused(t, err, "is an Arrow file, want an Arrow IPC stream", "new_stream")
	_, err = receivedFrom(t, option.Options{}, put.Header{Format: put.FormatArrow}, []byte("t,a\n1,2\n"))
	loadtest.Refused(t, err, "byte 0 is no beginning of an Arrow message", "IPC stream")
}
