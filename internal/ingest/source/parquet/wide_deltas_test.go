package parquet

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// TestDuckDBDeltasThatMayOverflowAreFound checks columns by the metadata of the footer: DuckDB may
// write deltas of int32 columns that need more than 32 bits.
// clients/python/tests/test_parquet_writers.py reads a file that DuckDB wrote.
func TestDuckDBDeltasThatMayOverflowAreFound(t *testing.T) {
	four := func(v int64) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }
	for _, c := range []struct {
		by        string
		low, high []byte
		wide      bool
	}{
		{"DuckDB version v2", four(0), four(math.MaxInt32), false},
		{"DuckDB version v2", four(-1), four(math.MaxInt32), true},
		{"DuckDB version v2", four(math.MinInt32), four(math.MaxInt32), true},
		{"DuckDB version v2", four(math.MinInt32), four(-1), false},
		{"DuckDB version v2", four(0), four(math.MaxUint32), true},
		{"DuckDB version v2", four(1 << 31), four(math.MaxUint32), false},
		{"DuckDB version v2", nil, nil, true},
		{"parquet-cpp-arrow", nil, nil, false},
	} {
		meta := &format.ColumnMetaData{Type: format.Int32,
			Encoding: []format.Encoding{format.DeltaBinaryPacked}}
		meta.Statistics.MinValue, meta.Statistics.MaxValue = c.low, c.high
		if got := mayHaveWideDeltas(c.by, meta); got != c.wide {
			t.Errorf("%s, %x to %x: %v", c.by, c.low, c.high, got)
		}
	}
	if mayHaveWideDeltas("DuckDB",
		&format.ColumnMetaData{Type: format.Int64,
			Encoding: []format.Encoding{format.DeltaBinaryPacked}}) ||
		mayHaveWideDeltas("DuckDB", &format.ColumnMetaData{Type: format.Int32}) {
		t.Error("other columns are refused")
	}
}
