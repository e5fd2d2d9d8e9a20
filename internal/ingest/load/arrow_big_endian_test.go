package load

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/endian"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestBigEndianArrowFilesAreRefused(t *testing.T) {
	schema := arrow.NewSchemaWithEndian(
		[]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil, endian.BigEndian)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{1 << 24, 2 << 24}, nil)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.arrows", stream.String())}})
	loadtest.Refused(t, err, "x.arrows: holds big-endian values, which are not read",
		"little-endian")
}
