package layout

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// halfValue returns the value of a half by the definition of IEEE 754: (-1)^sign · 2^(exponent-15)
// · 1.fraction, or (-1)^sign · 2^-14 · 0.fraction if the exponent is 0.
func halfValue(bits uint16) float64 {
	exp, frac := int(bits>>10&0x1f), float64(bits&0x3ff)
	v := math.Ldexp(1024+frac, exp-25)
	switch {
	case exp == 0:
		v = math.Ldexp(frac, -24)
	case exp == 31 && frac == 0:
		v = math.Inf(1)
	case exp == 31:
		return math.NaN()
	}
	return math.Copysign(v, 1-2*float64(bits>>15))
}

func TestEveryHalfRoundTripsThroughItsValue(t *testing.T) {
	for bits := range 1 << 16 {
		h := HalfFromBits(uint16(bits))
		want, got := halfValue(uint16(bits)), float64(h.Float32())
		if h.IsNaN() != math.IsNaN(want) || math.IsNaN(got) != math.IsNaN(want) {
			t.Fatalf("%#04x: NaN is %v, %v, want %v", bits, h.IsNaN(), got, want)
		}
		if math.IsNaN(want) {
			continue
		}
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%#04x is %v, want %v", bits, got, want)
		}
		if back := HalfOf(want); back != h {
			t.Fatalf("%v became %#04x, want %#04x", want, back.Bits(), bits)
		}
	}
}

func TestHalfOfRoundsToTheNearestEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-65519, 65519).Draw(t, "x")
		if rapid.Bool().Draw(t, "small") {
			x = math.Ldexp(x, -30)
		}
		if rapid.Bool().Draw(t, "between two") { // ties go to the even one
			bits := rapid.Uint16Range(0, 0x7bfe).Draw(t, "bits")
			x = (halfValue(bits) + halfValue(bits+1)) / 2
			if got := HalfOf(x); got.Bits() != bits+bits&1 {
				t.Fatalf("%v, between %#04x and the next, became %#04x", x, bits, got.Bits())
			}
			return
		}
		got := HalfOf(x)
		off := math.Abs(halfValue(got.Bits()) - x)
		for _, near := range []uint16{got.Bits() - 1, got.Bits() + 1} {
			if v := halfValue(near); math.Abs(v-x) < off && !math.IsInf(v, 0) {
				t.Fatalf("%v became %v, but %v is nearer", x, halfValue(got.Bits()), v)
			}
		}
	})
	for x, want := range map[float64]uint16{65519.99: 0x7bff, 65520: 0x7c00,
		-1e300: 0xfc00, 1e-300: 0} {
		if got := HalfOf(x); got.Bits() != want {
			t.Errorf("%v became %#04x, want %#04x", x, got.Bits(), want)
		}
	}
}
