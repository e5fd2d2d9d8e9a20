package column

import (
	"math"
	"testing"
)

func TestFitsFindsValuesOutsideTheType(t *testing.T) {
	for _, c := range []struct {
		name string
		fits bool
		want bool
	}{
		{"float64 in float32", fits[float64, float32](1.1, 1.1), true},
		{"inf in float32", fits[float64, float32](math.Inf(1), float32(math.Inf(1))), true},
		{"too large for float32", fits[float64, float32](1e300, float32(math.Inf(1))), false},
		{"NaN", fits[float64, float32](math.NaN(), float32(math.NaN())), true},
		{"uint64 in int64", fits[uint64, int64](math.MaxUint64, -1), false},
		{"int64 in int32", fits[int64, int32](1<<32, 0), false},
		{"uint32 in int64", fits[uint32, int64](math.MaxUint32, math.MaxUint32), true},
		{"2⁶³ in int64", fits[float64, int64](0x1p63, math.MaxInt64), false},
		{"-2⁶³ in int64", fits[float64, int64](-0x1p63, math.MinInt64), true},
		{"2⁶⁴ in uint64", fits[float64, uint64](0x1p64, math.MaxUint64), false},
		{"the greatest int64 of a uint64", fits[uint64, int64](math.MaxInt64, math.MaxInt64), true},
		{"negative in uint8", fits[int32, uint8](-1, 255), false},
	} {
		if c.fits != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.fits, c.want)
		}
	}
}
