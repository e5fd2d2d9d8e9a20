package moments

// Float is a type of floats with a size that processors have.
type Float interface{ float32 | float64 }

// Scale writes (v − shift) / scale of each value of from to the same place of to, which may be from: computed in float64, as
// scikit-learn's scalers do, and rounded once. to is at least as long as from.
func Scale[D, S Float](to []D, from []S, shift, scale float64) {
	to = to[:len(from)]
	whole := 0
	if vectors {
		whole = len(from) / laneCount * laneCount
	}
	if whole > 0 {
		switch f := any(from).(type) {
		case []float64:
			switch t := any(to).(type) {
			case []float64:
				scale64(&t[0], &f[0], whole, shift, scale)
			case []float32:
				scale64to32(&t[0], &f[0], whole, shift, scale)
			}
		case []float32:
			switch t := any(to).(type) {
			case []float64:
				scale32to64(&t[0], &f[0], whole, shift, scale)
			case []float32:
				scale32(&t[0], &f[0], whole, shift, scale)
			}
		}
	}
	for i := whole; i < len(from); i++ {
		to[i] = D((float64(from[i]) - shift) / scale)
	}
}
