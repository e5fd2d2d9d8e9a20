package parquet

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// wideDeltas reports whether a chunk of 32-bit integers may have differences of more than 32 bits. DuckDB's version 2 writes them so, against
// the format, which has them wrap: parquet-go reads other values then, and pyarrow none. Statistics that tell of a narrow range acquit.
func mayHaveWideDeltas(createdBy string, meta *format.ColumnMetaData) bool {
	if meta.Type != format.Int32 || !strings.HasPrefix(createdBy, "DuckDB") || !slices.Contains(meta.Encoding, format.DeltaBinaryPacked) {
		return false
	}
	low, high := meta.Statistics.MinValue, meta.Statistics.MaxValue
	if len(low) != 4 || len(high) != 4 {
		return true
	}
	a, b := binary.LittleEndian.Uint32(low), binary.LittleEndian.Uint32(high)
	span := int64(int32(b)) - int64(int32(a))
	if span < 0 { // unsigned
		span = int64(b) - int64(a)
	}
	return span < 0 || span >= 1<<31
}
