package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// TestRowCountsThatNeedTooMuchSpaceNameTheFile damages the number of rows of an Arrow stream, both
// in the batch and in its column. The error must say that the file may be damaged.
func TestRowCountsThatNeedTooMuchSpaceNameTheFile(t *testing.T) {
	const goodRows = 77
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues(make([]float64, goodRows), nil)
	var good bytes.Buffer
	w := ipc.NewWriter(&good, ipc.WithSchema(schema), ipc.WithLZ4())
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []uint64{1 << 36, 1 << 44} {
		bad := bytes.ReplaceAll(good.Bytes(), binary.LittleEndian.AppendUint64(nil, goodRows),
			binary.LittleEndian.AppendUint64(nil, rows))
		path := loadtest.File(t, "x.arrows", string(bad))
		j := Request{Dir: t.TempDir(), Options: option.Options{Sources: []string{path}}}
		_, err := Run(t.Context(), j, &progress.Meter{})
		var s *loaderr.NoSpaceError
		if !errors.As(err, &s) || s.Need < int64(8*rows) || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "the file may be damaged") {
			t.Errorf("%d rows: %v", rows, err)
		}
		if left, _ := os.ReadDir(j.Dir); len(left) > 0 {
			t.Errorf("%d rows: %v is left", rows, left)
		}
	}
	l := newLoad("", option.Options{}, &progress.Meter{})
	l.wanted.roles, l.rows = make([]layout.Role, 1<<16), column.MaxRows
	l.setColumns(make([]column.Column, 1<<16))
	if need := l.need(); need < column.MaxRows {
		t.Errorf("%d bytes are needed", need)
	}
}
