package layout

import "github.com/tensorcache/tensorcache/internal/moments"

// native is what is done with the values of a dtype by the Go type that they are stored as.
type native struct {
	// cells are values as JSON shows them (see [Cells]).
	cells func(b []byte) []any
	// see takes a block into a column's statistics and tells how many of its values are missing.
	see func(o *observer, block []byte) (missing int64)
	// featureSummary is a feature of a column whose extremes are asked for.
	featureSummary func(d *Data, c *ManifestColumn, lane int64) (featureSummary, error)
}

// natives has all dtypes.
var natives = map[DType]native{
	Float16: {
		cells:          func(b []byte) []any { return cells(b, func(v Half) any { return floatCell(v.Float32()) }) },
		see:            func(o *observer, block []byte) int64 { return observeHalves(o, cast[Half](block)) },
		featureSummary: summaryOf(seeHalves),
	},
	Float32: number[float32](), Float64: number[float64](),
	Int8: number[int8](), Int16: number[int16](), Int32: number[int32](), Int64: number[int64](),
	Uint8: number[uint8](), Uint16: number[uint16](), Uint32: number[uint32](), Uint64: number[uint64](),
	Bool: {
		cells:          func(b []byte) []any { return cells(b, func(v uint8) any { return v != 0 }) },
		see:            number[uint8]().see,
		featureSummary: number[uint8]().featureSummary,
	},
	Timestamp: unmeasured, Duration: unmeasured,
	Text: {
		cells:          number[int32]().cells,
		see:            func(_ *observer, block []byte) int64 { return missingCodes(cast[int32](block)) },
		featureSummary: summaryOf(seeCodes),
	},
}

// number is a dtype of numbers that Go has.
func number[T moments.Number]() native {
	return native{
		cells:          func(b []byte) []any { return cells(b, cellOf[T]) },
		see:            func(o *observer, block []byte) int64 { return observe(o, cast[T](block)) },
		featureSummary: summaryOf(seeNumbers[T]),
	}
}

// unmeasured are times, which have neither statistics nor missing values.
var unmeasured = native{
	cells:          number[int64]().cells,
	see:            func(*observer, []byte) int64 { return 0 },
	featureSummary: number[int64]().featureSummary,
}
