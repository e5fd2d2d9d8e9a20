package main

import (
	"math/rand/v2"
	"strconv"

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

// wideParquetFile is the command wide-parquet FILE ROWS, which writes a file of a time, three
// columns of random values and one more, of 8 bytes a value.
func wideParquetFile(ts *testscript.TestScript, _ bool, args []string) {
	type row struct {
		T      int64   `parquet:"t"`
		Open   float64 `parquet:"open,plain"`
		High   float64 `parquet:"high,plain"`
		Close  float64 `parquet:"close,plain"`
		Volume float64 `parquet:"volume,plain"`
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{int64(i), random.Float64(), random.Float64(), random.Float64(), 1}
	}
	ts.Check(parquet.WriteFile(ts.MkAbs(args[0]), rows))
}
