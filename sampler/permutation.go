package sampler

import (
	"math"
	"math/bits"
)

const (
	golden      = 0x9e3779b97f4a7c15
	rounds      = 8
	smallRounds = 16 // 8 are measurably not uniform if n is a few dozen
	small       = 4096
)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// draw returns output i of splitmix64 seeded with k.
func draw(k, i uint64) uint64 { return mix(k + (i+1)*golden) }

func epochKey(seed, epoch, purpose uint64) uint64 {
	return draw(draw(draw(0, seed), epoch), purpose)
}

// below maps x uniformly to [0, n).
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// permutation is a keyed permutation of [0, n).
type permutation struct {
	n, a   uint64
	rounds int
	keys   [smallRounds]uint64
}

func newPermutation(key, n uint64) permutation {
	p := permutation{n: n, a: evenSqrt(n), rounds: rounds}
	if n < small {
		p.rounds = smallRounds
	}
	for i := range p.rounds {
		p.keys[i] = draw(key, uint64(i))
	}
	return p
}

// evenSqrt returns the least even integer whose square is at least n, for n ≤ 2⁶². With an odd one,
// addition modulo a would be an even permutation, and all shuffles would have the same parity.
func evenSqrt(n uint64) uint64 {
	a := uint64(math.Sqrt(float64(n))) &^ 1
	for a*a < n {
		a += 2
	}
	for a > 2 && (a-2)*(a-2) >= n {
		a -= 2
	}
	return a
}

// at returns the image of x in [0, n).
func (p *permutation) at(x uint64) uint64 {
	for {
		l, r := x/p.a, x%p.a
		for _, k := range p.keys[:p.rounds] {
			l, r = round(l, r, k, p.a)
		}
		if x = l*p.a + r; x < p.n {
			return x
		}
	}
}

func round(l, r, key, a uint64) (uint64, uint64) {
	l += below(draw(key, r), a)
	if less := l - a; l >= a {
		l = less
	}
	return r, l
}

// inverse returns the x whose image is y.
func (p *permutation) inverse(y uint64) uint64 {
	for {
		l, r := y/p.a, y%p.a
		for i := p.rounds - 1; i >= 0; i-- {
			by := below(draw(p.keys[i], l), p.a)
			if r < by {
				r += p.a
			}
			l, r = r-by, l
		}
		if y = l*p.a + r; y < p.n {
			return y
		}
	}
}

// append appends the images of count numbers, starting at first. After n-1 it continues at 0. It
// computes four images at once, because each round of one depends on the previous round.
func (p *permutation) append(dst []int64, first, count uint64) []int64 {
	x := first % p.n
	for ; count > 0; count-- {
		if count >= 4 && x+4 <= p.n {
			a, b, c, d := p.atFour(x)
			dst = append(dst, a, b, c, d)
			x, count = x+4, count-3
		} else {
			dst = append(dst, int64(p.at(x)))
			x++
		}
		if x == p.n {
			x = 0
		}
	}
	return dst
}

// atFour returns the images of x and of the three numbers after it.
func (p *permutation) atFour(x uint64) (a, b, c, d int64) {
	l, r := x/p.a, x%p.a
	l0, r0 := l, r
	l1, r1 := p.next(l0, r0)
	l2, r2 := p.next(l1, r1)
	l3, r3 := p.next(l2, r2)
	for _, k := range p.keys[:p.rounds] {
		l0, r0 = round(l0, r0, k, p.a)
		l1, r1 = round(l1, r1, k, p.a)
		l2, r2 = round(l2, r2, k, p.a)
		l3, r3 = round(l3, r3, k, p.a)
	}
	return p.walk(l0, r0), p.walk(l1, r1), p.walk(l2, r2), p.walk(l3, r3)
}

// next returns the next number, as its two halves.
func (p *permutation) next(l, r uint64) (uint64, uint64) {
	if r++; r == p.a {
		return l + 1, 0
	}
	return l, r
}

// walk applies the permutation to an image outside of [0, n) until one is inside (cycle walking).
func (p *permutation) walk(l, r uint64) int64 {
	x := l*p.a + r
	if x >= p.n {
		x = p.at(x)
	}
	return int64(x)
}
