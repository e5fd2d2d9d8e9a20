package ingest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// halfNull are the nulls of four values, of which it says so many are null.
func halfNull(nulls int) arrow.ArrayData {
	values := memory.NewBufferBytes(arrow.Float64Traits.CastToBytes([]float64{1, 2, 3, 4}))
	return array.NewData(arrow.PrimitiveTypes.Float64, 4, []*memory.Buffer{memory.NewBufferBytes([]byte{0b1010}), values}, nil, nulls, 0)
}

func TestNullsOfArrowAreCounted(t *testing.T) {
	for _, c := range []struct {
		data    arrow.ArrayData
		refused string
	}{
		{halfNull(2), ""},
		{halfNull(1), `record batch 1, column "a": says that it has 1 null and has 2`},
		{halfNull(3), `record batch 1, column "a": says that it has 3 nulls and has 2`},
	} {
		a := array.MakeFromData(c.data)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		o := Options{Sources: []string{loadtest.File(t, "x.arrows", b.String())}}
		if c.refused == "" {
			if got := texts(mustLoad(t, o), "a"); got[0] != "nan" || got[2] != "nan" || got[1] == "nan" {
				t.Error(got)
			}
			continue
		}
		_, _, err := inProcess(t, o)
		loadtest.Refused(t, err, c.refused, "damaged")
	}
	list := array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), 2, []*memory.Buffer{nil}, []arrow.ArrayData{halfNull(1)}, 0, 0)
	bare := array.NewData(arrow.PrimitiveTypes.Float64, 4, []*memory.Buffer{nil, halfNull(0).Buffers()[1]}, nil, 3, 0)
	if said, n := miscounted(array.MakeFromData(bare)); said != 3 || n != 0 {
		t.Error(said, n)
	}
	if said, n := miscounted(array.MakeFromData(list)); said != 1 || n != 2 { // which Go's writer counts anew
		t.Error(said, n)
	}
}

func TestBuffersThatAreTooShortAreFound(t *testing.T) {
	bytesOf := func(n int) *memory.Buffer { return memory.NewBufferBytes(make([]byte, n, 128)) }
	floats := func(n, offset int, bits *memory.Buffer, values int) *array.Data {
		return array.NewData(arrow.PrimitiveTypes.Float64, n, []*memory.Buffer{bits, bytesOf(values)}, nil, 0, offset)
	}
	texts := array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, bytesOf(12), bytesOf(0)}, nil, 0, 0)
	for what, c := range map[string]struct {
		data       arrow.ArrayData
		have, need int64
	}{
		"none":                 {floats(0, 0, nil, 0), 0, 0},
		"values":               {floats(4, 0, nil, 32), 0, 0},
		"values of a slice":    {floats(3, 1, nil, 31), 31, 32},
		"bits":                 {floats(9, 0, bytesOf(1), 72), 1, 2},
		"values of lists":      {array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), 2, []*memory.Buffer{nil}, []arrow.ArrayData{floats(4, 0, nil, 24)}, 0, 0), 24, 32},
		"truth values":         {array.NewData(arrow.FixedWidthTypes.Boolean, 17, []*memory.Buffer{nil, bytesOf(2)}, nil, 0, 0), 2, 3},
		"no values":            {array.NewData(arrow.PrimitiveTypes.Int8, 3, []*memory.Buffer{nil, nil}, nil, 0, 0), 0, 3},
		"codes":                {dictionaryOf(bytesOf(3), texts), 3, 4},
		"words":                {dictionaryOf(bytesOf(4), array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, bytesOf(7), nil}, nil, 0, 0)), 7, 8},
		"codes and words":      {dictionaryOf(bytesOf(4), texts), 0, 0},
		"nothing, whose bytes": {array.NewData(arrow.Null, 3, []*memory.Buffer{nil}, nil, 3, 0), 0, 0},
	} {
		if have, need := shortened(c.data); have != c.have || need != c.need {
			t.Errorf("%s: %d of %d bytes, want %d of %d", what, have, need, c.have, c.need)
		}
	}
}

func dictionaryOf(codes *memory.Buffer, words *array.Data) arrow.ArrayData {
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	return array.NewDataWithDictionary(kind, 2, []*memory.Buffer{nil, codes}, 0, 0, words)
}

func TestZonesThatAreNoTextAreRefused(t *testing.T) {
	_, err := arrowColumn(&arrow.TimestampType{TimeZone: "Eur\x95pe"})
	if err == nil || err.Error() != `has a time zone "Eur\x95pe", which is not UTF-8` {
		t.Error(err)
	}
}
