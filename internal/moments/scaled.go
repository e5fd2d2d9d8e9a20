package moments

import "math"

// Float is a type of floats with a size that processors have.
type Float interface{ float32 | float64 }

// divisor is how the assembly scales. Its layout is that of the assembly.
type divisor struct {
	shift, scale, inverse float64
	least, most           float64 // sizes of differences that are multiplied by the inverse; others are divided
}

// safely is how large and, as its inverse, how small numbers are whose quotients and remainders are far from the ends of float64's range.
const safely = 0x1p400

// divisorOf prepares the division by what does not change: q = a·inverse, rounded, is corrected by the remainder a − q·scale, which a fused
// operation gives exactly, times the inverse (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990): the result is a / scale, rounded once.
func divisorOf(shift, scale float64) divisor {
	d := divisor{shift: shift, scale: scale, inverse: 1 / scale, least: math.Inf(1)}
	if a := math.Abs(scale); fused && a >= 1/safely && a <= safely {
		d.least, d.most = 1/safely, safely
	}
	return d
}

// Scale writes (v − shift) / scale of each value of from to the same place of to, which may be from: computed in float64, as
// scikit-learn's scalers do, and rounded once. to is at least as long as from.
func Scale[D, S Float](to []D, from []S, shift, scale float64) {
	to = to[:len(from)]
	whole := 0
	if vectors {
		whole = len(from) / laneCount * laneCount
	}
	if whole > 0 {
		d := divisorOf(shift, scale)
		switch f := any(from).(type) {
		case []float64:
			switch t := any(to).(type) {
			case []float64:
				scale64(&t[0], &f[0], whole, d)
			case []float32:
				scale64to32(&t[0], &f[0], whole, d)
			}
		case []float32:
			switch t := any(to).(type) {
			case []float64:
				scale32to64(&t[0], &f[0], whole, d)
			case []float32:
				scale32(&t[0], &f[0], whole, d)
			}
		}
	}
	for i := whole; i < len(from); i++ {
		to[i] = D((float64(from[i]) - shift) / scale)
	}
}
