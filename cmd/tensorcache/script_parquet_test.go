package main

import (
	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// parquetFile writes a file of two items of three rows.
func parquetFile(ts *testscript.TestScript, _ bool, args []string) {
	type row struct {
		ID     string  `parquet:"id,dict"`
		T      int64   `parquet:"t,delta"`
		Close  float64 `parquet:"close,snappy"`
		Volume int32   `parquet:"volume,zstd"`
	}
	var rows []row
	for _, id := range []string{"x", "y"} {
		for t := range int64(3) {
			rows = append(rows, row{id, t, 1.5 * float64(t), int32(t)})
		}
	}
	ts.Check(parquet.WriteFile(ts.MkAbs(args[0]), rows))
}
