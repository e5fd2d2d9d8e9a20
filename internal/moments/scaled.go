package moments

import "math"

// Scaling is a shift and a scale, prepared to scale many values. The assembly depends on the order
// of the fields.
type Scaling struct {
	shift, scale, inverse float64
	// Differences of a size from least to most are multiplied by the inverse, others are divided.
	// If least is 0, all are multiplied, without a comparison.
	least, most float64
}

// safeSize is the largest, and its inverse the smallest, size of numbers for which quotients and
// remainders are far from overflow and underflow.
const safeSize = 0x1p400

// NewScaling prepares a division by scale. The product q = a·inverse, rounded, is corrected by the
// remainder a − q·scale times the inverse. A fused multiply-add computes the remainder exactly. The
// result is a / scale, rounded once (Markstein, "Computation of elementary functions on the IBM
// RISC System/6000 processor", 1990).
//
// of are the moments of all values to scale, or the zero value if they are not known. If they show
// that every difference has a safe size, Scale does not compare differences. This is valid because
// the difference of two unequal numbers is at least 2^-54 of each.
func NewScaling(shift, scale float64, of Moments) Scaling {
	s := Scaling{shift: shift, scale: scale, inverse: 1 / scale, least: math.Inf(1)}
	if !fused || !(math.Abs(scale) >= 1/safeSize && math.Abs(scale) <= safeSize) {
		return s
	}
	s.least, s.most = 1/safeSize, safeSize
	if scale > 0 && math.Abs(shift) >= 0x1p60/safeSize && of.N > 0 &&
		max(math.Abs(of.Least-shift), math.Abs(of.Greatest-shift)) <= safeSize {
		s.least = 0
	}
	return s
}

// Scale writes (v − shift) / scale, rounded once, for each value of from to the same index of to,
// which may be from. scikit-learn's scalers compute the same. to must be at least as long as from.
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
