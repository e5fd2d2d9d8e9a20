package moments

import "slices"

// Float is the type of the values of a [Block].
type Float interface{ float32 | float64 }

// Block computes the moments of a block of values that is added in parts. The result is equal to
// the last bit to that of [Add] for the whole block. The zero value is empty.
type Block[T Float] struct {
	sums  laneSums
	near  float64
	found bool // near is the first finite value
	n     int
}

// Add adds the next values of the block.
func (b *Block[T]) Add(values []T) {
	if b.n == 0 {
		b.sums.begin()
	}
	if !b.found { // without finite values the result does not depend on near
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

// Moments returns the moments of all added values.
func (b *Block[T]) Moments() Moments { return b.sums.moments(b.near) }
