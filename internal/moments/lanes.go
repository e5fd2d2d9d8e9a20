package moments

import "math"

// laneCount is the number of parallel sums. Value i of a block belongs to lane i modulo laneCount.
const laneCount = 8

// laneSums are the sums over a block: differences from a value near the mean, and their squares.
// The assembly depends on the order of the fields.
type laneSums struct {
	sum, squares    [laneCount]float64
	least, greatest [laneCount]float64
	present         [laneCount]int64
}

func (l *laneSums) begin() {
	for i := range laneCount {
		l.least[i], l.greatest[i] = math.Inf(1), math.Inf(-1)
	}
}

// moments joins the lanes. near is the value that was subtracted.
func (l *laneSums) moments(near float64) (m Moments) {
	least, greatest := math.Inf(1), math.Inf(-1)
	for i := range laneCount {
		m.N += l.present[i]
		least, greatest = min(least, l.least[i]), max(greatest, l.greatest[i])
	}
	if m.N == 0 {
		return Moments{}
	}
	n, s, q := float64(m.N), total(&l.sum), total(&l.squares)
	m.Mean, m.M2 = near+s/n, max(0, q-s*s/n)
	m.Least, m.Greatest = least+0, greatest+0 // turns −0 into 0
	return m
}

func total(l *[laneCount]float64) float64 {
	return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}

// widenTile is the number of values that are converted to float64 at a time, a multiple of
// laneCount.
const widenTile = 512

// sum adds a block.
func sum[T Number](l *laneSums, values []T, near float64) {
	switch v := any(values).(type) {
	case []float64:
		sumFloats(l, v, near, sum64)
		return
	case []float32:
		sumFloats(l, v, near, sum32)
		return
	}
	var wide [widenTile]float64
	for len(values) > 0 {
		tile := values[:min(len(values), widenTile)]
		to := wide[:len(tile)]
		for i, v := range tile {
			to[i] = float64(v)
		}
		sumFloats(l, to, near, sum64)
		values = values[len(tile):]
	}
}

// sumFloats adds a block whose first value belongs to lane 0.
func sumFloats[T float32 | float64](
	l *laneSums, values []T, near float64, vector func(l *laneSums, values *T, n int, near float64),
) {
	whole := len(values) / laneCount * laneCount
	switch {
	case whole == 0:
	case vectors:
		vector(l, &values[0], whole, near)
	default:
		sumPlain(l, values[:whole], near)
	}
	sumEach(l, values[whole:], 0, near)
}

// sumPlain adds a multiple of laneCount values without the assembly, in the same order.
func sumPlain[T float32 | float64](l *laneSums, values []T, near float64) {
	before := *l
	sumHalf(l, 0, values, near)
	sumHalf(l, laneCount/2, values, near)
	if s := total(&l.sum); s != s { // a value is missing or infinite
		*l = before
		sumEach(l, values, 0, near)
	}
}

// sumHalf adds the values of four lanes. If a value is missing, a sum becomes NaN.
func sumHalf[T float32 | float64](l *laneSums, at int, values []T, near float64) {
	s0, s1, s2, s3 := l.sum[at], l.sum[at+1], l.sum[at+2], l.sum[at+3]
	q0, q1, q2, q3 := l.squares[at], l.squares[at+1], l.squares[at+2], l.squares[at+3]
	lo, hi := T(l.least[at]), T(l.greatest[at])
	for i := at; i+4 <= len(values); i += laneCount {
		v := values[i : i+4 : i+4]
		a, b, c, d := v[0], v[1], v[2], v[3]
		x, y, z, w := float64(a)-near, float64(b)-near, float64(c)-near, float64(d)-near
		s0, s1, s2, s3 = s0+x, s1+y, s2+z, s3+w
		// The conversions prevent fused multiply-add, which would round once less.
		q0, q1, q2, q3 = q0+float64(x*x), q1+float64(y*y), q2+float64(z*z), q3+float64(w*w)
		if a < lo {
			lo = a
		}
		if a > hi {
			hi = a
		}
		if b < lo {
			lo = b
		}
		if b > hi {
			hi = b
		}
		if c < lo {
			lo = c
		}
		if c > hi {
			hi = c
		}
		if d < lo {
			lo = d
		}
		if d > hi {
			hi = d
		}
	}
	copy(l.sum[at:], []float64{s0, s1, s2, s3})
	copy(l.squares[at:], []float64{q0, q1, q2, q3})
	l.least[at], l.greatest[at] = float64(lo), float64(hi)
	for i := range 4 {
		l.present[at+i] += int64(len(values) / laneCount)
	}
}

// sumEach adds values one by one and skips missing ones. The first value belongs to lane first.
func sumEach[T float32 | float64](l *laneSums, values []T, first int, near float64) {
	for i, v := range values {
		if v != v {
			continue
		}
		f, lane := float64(v), (first+i)%laneCount
		x := f - near
		l.sum[lane] += x
		l.squares[lane] += float64(x * x)
		l.least[lane], l.greatest[lane] = min(l.least[lane], f), max(l.greatest[lane], f)
		l.present[lane]++
	}
}
