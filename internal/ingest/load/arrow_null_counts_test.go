package load

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestWrongNullCountsOfArrowAreRefused loads an array with 2 nulls that declares 1, 2 or 3.
func TestWrongNullCountsOfArrowAreRefused(t *testing.T) {
	for _, c := range []struct {
		data    arrow.ArrayData
		refused string // "" if the load succeeds
	}{
		{loadtest.HalfNull(2), ""},
		{loadtest.HalfNull(1), `record batch 1, column "a": says that it has 1 null and has 2`},
		{loadtest.HalfNull(3), `record batch 1, column "a": says that it has 3 nulls and has 2`},
	} {
		a := array.MakeFromData(c.data)
		record := array.NewRecord(
			arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType(), Nullable: true}}, nil),
			[]arrow.Array{a}, int64(a.Len()))
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		o := option.Options{Sources: []string{loadtest.File(t, "x.arrows", b.String())}}
		if c.refused == "" {
			if got := loadtest.Texts(mustLoad(t, o), "a"); got[0] != "nan" || got[2] != "nan" ||
				got[1] == "nan" {
				t.Error(got)
			}
			continue
		}
		_, _, err := loadInProcess(t, o)
		loadtest.Refused(t, err, c.refused, "damaged")
	}
}
