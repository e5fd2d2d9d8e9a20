package numerals

import (
	"math"
	"math/bits"
)

// powers are the powers of ten that are exact in a float64.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// fives are the powers of five that fit into 64 bits.
var fives = func() (f [28]uint64) {
	f[0] = 1
	for i := range len(f) - 1 {
		f[i+1] = 5 * f[i]
	}
	return f
}()

// Decimal returns the float64 that is nearest to mantissa · 10^exponent. ok is false if that needs
// more than one multiplication or division. It is true for exponents from -27 to 0, and for
// mantissas below 2⁵³ up to 22.
func Decimal(mantissa uint64, exponent int) (v float64, ok bool) {
	switch {
	case mantissa < 1<<53 && -len(powers) < exponent && exponent <= 0:
		// Both numbers are exact, so only the division rounds (Clinger).
		return float64(int64(mantissa)) / powers[-exponent], true
	case mantissa < 1<<53 && 0 < exponent && exponent < len(powers):
		return float64(int64(mantissa)) * powers[exponent], true
	case -len(fives) < exponent && exponent <= 0:
		return quotient(mantissa, -exponent), true
	}
	return 0, false
}

// quotient returns the float64 that is nearest to mantissa / 10^k, for k up to 27.
func quotient(mantissa uint64, k int) float64 {
	if mantissa == 0 {
		return 0
	}
	five := fives[k]
	down, up := bits.LeadingZeros64(mantissa), bits.LeadingZeros64(five)
	// The highest bit of both is set, so that the quotient has 63 or 64 bits. A float64 has no
	// place for the last 10 or 11 of them; the lowest one is set if a later bit of the quotient is.
	q, rest := bits.Div64(mantissa<<down>>1, mantissa<<down<<63, five<<up)
	sticky := q & 1
	if rest != 0 {
		sticky = 1
	}
	v := float64(int64(q>>1 | sticky))
	return math.Float64frombits(math.Float64bits(v) + uint64(up-down-k-62)<<52)
}
