package moments

import "math"

// Scaling is a shift and a scale, prepared for many values. Its layout is that of the assembly.
type Scaling struct {
	shift, scale, inverse float64
	least, most           float64 // sizes of differences that are multiplied by the inverse; others are divided. A least of 0 says that all are such.
}

// safeSize is how large and, as its inverse, how small numbers are whose quotients and remainders are far from the ends of float64's range.
const safeSize = 0x1p400

// NewScaling prepares the division by what does not change: q = a·inverse, rounded, is corrected by the remainder a − q·scale, which a fused
// operation gives exactly, times the inverse (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990): the result is a / scale, rounded once.
//
// of are the moments of all values that will be scaled, where they are known, else the zero value. Where they say that every difference
// is of a safe size, none is looked at. The difference of two unequal numbers is at least 2^-54 of each.
func NewScaling(shift, scale float64, of Moments) Scaling {
	s := Scaling{shift: shift, scale: scale, inverse: 1 / scale, least: math.Inf(1)}
	if !fused || !(math.Abs(scale) >= 1/safeSize && math.Abs(scale) <= safeSize) {
		return s
	}
	s.least, s.most = 1/safeSize, safeSize
	if scale > 0 && math.Abs(shift) >= 0x1p60/safeSize && of.N > 0 && max(math.Abs(of.Least-shift), math.Abs(of.Greatest-shift)) <= safeSize {
		s.least = 0
	}
	return s
}

// Scale writes (v − shift) / scale of each value of from to the same place of to, which may be from: as scikit-learn's
// scalers, rounded once. to is at least as long as from.
func Scale(to, from []float64, s Scaling) {
	to = to[:len(from)]
	whole := 0
	if vectors {
		whole = len(from) / laneCount * laneCount
	}
	if whole > 0 {
		scale64(&to[0], &from[0], whole, s)
	}
	for i := whole; i < len(from); i++ {
		to[i] = (from[i] - s.shift) / s.scale
	}
}
