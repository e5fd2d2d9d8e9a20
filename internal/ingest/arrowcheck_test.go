package ingest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
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
		{halfNull(1), `row group 1, column "a": says that it has 1 nulls and has 2`},
		{halfNull(3), `row group 1, column "a": says that it has 3 nulls and has 2`},
	} {
		a := array.MakeFromData(c.data)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		o := Options{Sources: []string{source(t, "x.arrows", b.String())}}
		if c.refused == "" {
			if got := texts(mustLoad(t, o), "a"); got[0] != "nan" || got[2] != "nan" || got[1] == "nan" {
				t.Error(got)
			}
			continue
		}
		_, _, err := inProcess(t, o)
		refused(t, err, c.refused, "damaged")
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

func TestZonesThatAreNoTextAreRefused(t *testing.T) {
	_, err := arrowColumn(&arrow.TimestampType{TimeZone: "Eur\x95pe"})
	if err == nil || err.Error() != `has a time zone "Eur\x95pe", which is not UTF-8` {
		t.Error(err)
	}
}
