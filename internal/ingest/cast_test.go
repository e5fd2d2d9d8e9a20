package ingest

import (
	"math"
	"testing"
)

func TestHalvesAreTheirValues(t *testing.T) {
	for bits := range 1 << 16 {
		exp, frac := bits>>10&0x1f, float64(bits&0x3ff)
		want := math.Ldexp(frac, -24)
		if exp > 0 {
			want = math.Ldexp(1024+frac, exp-25)
		}
		if exp == 31 && frac == 0 {
			want = math.Inf(1)
		}
		if bits>>15 == 1 {
			want = -want
		}
		got := float16(uint16(bits))
		if exp == 31 && frac > 0 {
			if got == got {
				t.Errorf("%#04x is %v, want NaN", bits, got)
			}
		} else if math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
}

func TestValuesThatDoNotFitAreFound(t *testing.T) {
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
		{"negative in uint8", fits[int32, uint8](-1, 255), false},
	} {
		if c.fits != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.fits, c.want)
		}
	}
}
