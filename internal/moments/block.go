package moments

import "slices"

// Float is the type of the values that a [Block] measures.
type Float interface{ float32 | float64 }

// Block measures a block of values that comes piece by piece, as [See] measures it at once, to the last bit. The zero value has seen none.
type Block[T Float] struct {
	sums  laneSums
	near  float64
	found bool // near is the first finite value
	n     int
}

// Add takes in the next values.
func (b *Block[T]) Add(values []T) {
	if b.n == 0 {
		b.sums.begin()
	}
	if !b.found { // what is not finite comes to the same from wherever it is measured
		if i := slices.IndexFunc(values, func(v T) bool { return v-v == 0 }); i >= 0 {
			b.near, b.found = float64(values[i]), true
		}
	}
	if lane := b.n % laneCount; lane > 0 {
		head := min(laneCount-lane, len(values))
		sumEach(&b.sums, values[:head], lane, b.near)
		b.n, values = b.n+head, values[head:]
	}
	b.n += len(values)
	sum(&b.sums, values, b.near)
}

// Moments are those of the values so far.
func (b *Block[T]) Moments() Moments { return b.sums.moments(b.near) }
