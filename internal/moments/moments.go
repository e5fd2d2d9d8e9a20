package moments

import "math"

// Number is the type of a value: the types of numeric columns except float16.
type Number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Moments are the moments of the values that are not missing (NaN). The zero value is that of no
// values. Mean and M2 are not finite if a value is infinite.
type Moments struct {
	N               int64
	Mean            float64
	M2              float64 // sum of squared deviations from the mean
	Least, Greatest float64 // 0 without values
}

// Add adds a block of values in one pass and returns the number of missing ones. The last bits of
// the result depend on how values are divided into blocks.
func Add[T Number](m *Moments, values []T) (missing int64) {
	if len(values) == 0 {
		return 0
	}
	near := m.Mean
	if m.N == 0 || near-near != 0 {
		near = firstFinite(values)
	}
	var l laneSums
	l.begin()
	sum(&l, values, near)
	b := l.moments(near)
	*m = m.Join(b)
	return int64(len(values)) - b.N
}

// firstFinite returns the first finite value, or 0 if there is none.
func firstFinite[T Number](values []T) float64 {
	for _, v := range values {
		if f := float64(v); f-f == 0 {
			return f
		}
	}
	return 0
}

// Join returns the moments of both groups of values together.
func (m Moments) Join(o Moments) Moments {
	switch {
	case o.N == 0:
		return m
	case m.N == 0:
		return o
	}
	a, b := float64(m.N), float64(o.N)
	delta := o.Mean - m.Mean
	return Moments{
		N: m.N + o.N, Mean: m.Mean + delta*b/(a+b), M2: m.M2 + o.M2 + delta*delta*a*b/(a+b),
		Least: min(m.Least, o.Least), Greatest: max(m.Greatest, o.Greatest),
	}
}

// Std returns the standard deviation with ddof 0, or NaN without values.
func (m Moments) Std() float64 { return math.Sqrt(m.M2 / float64(m.N)) }
