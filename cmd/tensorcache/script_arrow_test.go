package main

import (
	"errors"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/rogpeppe/go-internal/testscript"
)

// writeArrowStream is the command arrows FILE, which writes an Arrow stream of two series, each of
// three rows in two batches.
func writeArrowStream(ts *testscript.TestScript, _ bool, args []string) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "t", Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.PrimitiveTypes.Float32},
	}, nil)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	var w interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(f, ipc.WithSchema(schema))
	if strings.HasSuffix(args[0], ".arrow") {
		w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema))
		ts.Check(err)
	}
	for _, id := range []string{"x", "y"} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.StringBuilder).AppendValues([]string{id, id, id}, nil)
		b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
		b.Field(2).(*array.Float32Builder).AppendValues([]float32{0.5, 1.5, 2.5}, nil)
		record := b.NewRecord()
		err = errors.Join(err, w.Write(record))
		record.Release()
		b.Release()
	}
	ts.Check(errors.Join(err, w.Close(), f.Close()))
}
