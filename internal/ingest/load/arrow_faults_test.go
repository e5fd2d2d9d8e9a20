package load

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// damagedStream returns an Arrow stream of two batches of five rows. damage changes the bytes from
// the second batch to the end.
func damagedStream(t *testing.T, damage func(batch []byte)) string {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.PrimitiveTypes.Int32},
		{Name: "word", Type: arrow.BinaryTypes.String},
		{Name: "a", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	lastBatch := 0 // its first byte
	for batch := range int32(2) {
		lastBatch = out.Len()
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range int32(5) {
			b.Field(0).(*array.Int32Builder).Append(5*batch + i)
			b.Field(1).(*array.StringBuilder).Append("wxyz"[:i])
			b.Field(2).(*array.Float64Builder).Append(float64(i) / 2)
		}
		record := b.NewRecord()
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
		record.Release()
		b.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	damage(out.Bytes()[lastBatch:])
	return out.String()
}

// TestErrorsOfDamagedArrowNameColumnAndBatch damages one field or value of the second batch for
// each check of the reader.
func TestErrorsOfDamagedArrowNameColumnAndBatch(t *testing.T) {
	replace := func(b, old, new []byte) {
		at := bytes.LastIndex(b, old)
		if at < 0 {
			t.Fatalf("%x is not in the batch", old)
		}
		copy(b[at:], new)
	}
	ints := func(v ...int64) (b []byte) {
		for _, n := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		return b
	}
	offsets := func(v ...uint32) (b []byte) {
		for _, n := range v {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return b
	}
	for _, c := range []struct {
		name, want, hint string
		damage           func(b []byte)
		o                option.Options
	}{
		{"text", `x.arrows, row 9, column "word": "\xffxy" is not UTF-8`,
			"only UTF-8 text can be loaded",
			func(b []byte) { replace(b, []byte("wxywxyz"), []byte{0xff}) }, option.Options{}},
		{"item", `x.arrows, row 1, column "word": the text is empty, but an item needs a name`,
			"leave the rows out", func([]byte) {}, option.Options{ItemID: []string{"word"}}},
		{"offsets", `x.arrows, record batch 2, column "word": cannot be decoded: `, "damaged",
			func(b []byte) {
				replace(b, offsets(0, 0, 1, 3, 6, 10), offsets(0, 0, 1, 3, 1<<30, 10))
			}, option.Options{}},
		{"length of a buffer",
			`x.arrows, record batch 2, column "a": has a buffer of 1099511627776 bytes at `,
			"damaged", func(b []byte) { replace(b, ints(40), ints(1<<40)) }, option.Options{}},
		{"place of a buffer",
			`x.arrows, record batch 2, column "a": has a buffer at 60, no multiple of 8`, "damaged",
			func(b []byte) {
				at := bytes.LastIndex(b, ints(40)) - 8
				b[at] -= 4
			}, option.Options{}},
		{"short buffer",
			`x.arrows, record batch 2, column "a": has a buffer of 32 bytes, its rows need 40`,
			"damaged", func(b []byte) { replace(b, ints(40), ints(32)) }, option.Options{}},
		{"nulls", `x.arrows, record batch 2, column "a": has an array of 5 rows and -1 nulls in a batch of 5 rows`,
			"damaged", func(b []byte) { replace(b, ints(5, 0), ints(5, -1)) }, option.Options{}},
		{"rows of a column", `x.arrows, record batch 2: the Arrow stream cannot be decoded: `,
			"damaged", func(b []byte) { replace(b, ints(5, 0), ints(4, 0)) }, option.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.arrows", damagedStream(t, c.damage))}
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
}

// streamOfLists returns an Arrow stream of lists of two values. present has an entry per batch,
// with a value per row: false if the list is null. Null lists have values in the child array, which
// a reader must ignore.
func streamOfLists(t *testing.T, present [][]bool, of arrow.DataType,
	values func(rows int) *memory.Buffer) string {
	t.Helper()
	list := arrow.FixedSizeListOf(2, of)
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: list, Nullable: true}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for _, rows := range present {
		bits := make([]byte, (len(rows)+7)/8)
		nulls := 0
		for i, ok := range rows {
			if ok {
				bits[i/8] |= 1 << (i % 8)
			} else {
				nulls++
			}
		}
		child := array.NewData(of, 2*len(rows), []*memory.Buffer{nil, values(len(rows))}, nil, 0, 0)
		a := array.MakeFromData(
			array.NewData(list, len(rows), []*memory.Buffer{memory.NewBufferBytes(bits)},
				[]arrow.ArrayData{child}, nulls, 0))
		if err := w.Write(array.NewRecord(schema, []arrow.Array{a}, int64(len(rows)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMissingListsAreNaNOrFilled loads lists of which some are null as a whole. They become NaN in
// float columns. Integer columns need a fill.
func TestMissingListsAreNaNOrFilled(t *testing.T) {
	batches := [][]bool{{false, true, true, false}, {true},
		{false, false, true, false, true, true, true, true, true, false, true}}
	present := slices.Concat(batches...)
	floats := func(rows int) *memory.Buffer {
		v := make([]float64, 2*rows)
		for i := range v {
			v[i] = 1e300 // outside float32, also in the child array of null lists
		}
		return memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(v))
	}
	ints := func(rows int) *memory.Buffer {
		return memory.NewBufferBytes(
			arrow.Int16Traits.CastToBytes(slices.Repeat([]int16{7}, 2*rows)))
	}
	path := loadtest.File(t, "x.arrows",
		streamOfLists(t, batches, arrow.PrimitiveTypes.Float64, floats))
	for _, how := range []string{"columns", "packed"} {
		got := loadtest.Values[float64](mustLoad(t,
			option.Options{Sources: []string{path}, Layout: how}), "a")
		for i, v := range got {
			if math.IsNaN(v) == present[i/2] || present[i/2] && v != 1e300 {
				t.Errorf("%s: row %d is %v", how, i/2+1, v)
			}
		}
	}
	for i, v := range loadtest.Values[float64](mustLoad(t,
		option.Options{Sources: []string{path}, Fill: option.All(option.FillWith(3))}), "a") {
		if present[i/2] && v != 1e300 || !present[i/2] && v != 3 {
			t.Errorf("filled row %d is %v", i/2+1, v)
		}
	}
	missing := loadtest.File(t, "x.arrows", streamOfLists(t, [][]bool{{false, false}, {false}},
		arrow.PrimitiveTypes.Float64, floats))
	if got := loadtest.Values[float32](mustLoad(t, option.Options{Sources: []string{missing},
		DType: option.Floats("float32")}), "a"); len(got) != 6 || got[0] == got[0] {
		t.Error("values in the child array of null lists were read", got)
	}
	path = loadtest.File(t, "x.arrows", streamOfLists(t, batches, arrow.PrimitiveTypes.Int16, ints))
	_, _, err := loadInProcess(t, option.Options{Sources: []string{path}})
	loadtest.Refused(t, err, `x.arrows, row 1, column "a": the value is missing`, "`fill={\"a\":0}`")
	for i, v := range loadtest.Values[int16](mustLoad(t,
		option.Options{Sources: []string{path}, Fill: option.All(option.FillWith(-2))}), "a") {
		if present[i/2] && v != 7 || !present[i/2] && v != -2 {
			t.Errorf("filled row %d is %d", i/2+1, v)
		}
	}
}
