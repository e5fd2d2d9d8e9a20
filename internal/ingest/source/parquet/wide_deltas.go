package parquet

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// mayHaveWideDeltas reports whether a column chunk of 32-bit integers may have deltas of more than
// 32 bits. DuckDB with PARQUET_VERSION V2 writes them, against the format, which wraps them.
// parquet-go then decodes wrong values, and pyarrow none. It is false if the statistics prove a
// narrow range.
func mayHaveWideDeltas(createdBy string, meta *format.ColumnMetaData) bool {
	if meta.Type != format.Int32 || !strings.HasPrefix(createdBy, "DuckDB") ||
		!slices.Contains(meta.Encoding, format.DeltaBinaryPacked) {
		return false
	}
	low, high := meta.Statistics.MinValue, meta.Statistics.MaxValue
	if len(low) != 4 || len(high) != 4 {
		return true
	}
	a, b := binary.LittleEndian.Uint32(low), binary.LittleEndian.Uint32(high)
	span := int64(int32(b)) - int64(int32(a))
	if span < 0 { // the bounds are unsigned
		span = int64(b) - int64(a)
	}
	return span < 0 || span >= 1<<31
}
