package loadtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// GroupedRow is a row of [ParquetGroups].
type GroupedRow struct {
	ID   string  `parquet:"id,dict"`
	Site int32   `parquet:"site"`
	T    int64   `parquet:"t,timestamp(millisecond)"`
	N    uint32  `parquet:"n"`
	X    float64 `parquet:"x"`
}

// NewGroupedRow returns a row with the given values.
func NewGroupedRow(id string, site int32, t int64, n uint32, x float64) GroupedRow {
	return GroupedRow{ID: id, Site: site, T: t, N: n, X: x}
}

// ParquetGroups writes a Parquet file with statistics to path. Each row group has group rows, the
// last one possibly fewer.
func ParquetGroups(t testing.TB, path string, rows []GroupedRow, group int,
	options ...parquet.WriterOption) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[GroupedRow](&b, options...)
	for len(rows) > 0 {
		n := min(group, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
