package sampler

import (
	"math"
	"math/bits"
)

const (
	golden      = 0x9e3779b97f4a7c15
	rounds      = 8
	smallRounds = 16 // 8 are measurably uneven where n is a few dozen
	small       = 4096
)

// Purposes keep the random numbers of one epoch apart.
const (
	forShuffle = iota + 1
	forBootstrap
	forBlocks
	forPhases
	forItems
	forRotation
)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// draw is the i-th output of splitmix64 seeded with k.
func draw(k, i uint64) uint64 { return mix(k + (i+1)*golden) }

func epochKey(seed, epoch, purpose uint64) uint64 {
	return draw(draw(draw(0, seed), epoch), purpose)
}

// below maps x evenly onto [0, n).
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

// evenSqrt is the least even integer whose square is at least n, for n ≤ 2⁶². With an odd one,
// adding modulo a would be an even permutation, and all shuffles would have the same parity.
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

// at is the image of x in [0, n).
func (p *permutation) at(x uint64) uint64 {
	for {
		l, r := x/p.a, x%p.a
		for _, k := range p.keys[:p.rounds] {
			l += below(draw(k, r), p.a)
			if l >= p.a {
				l -= p.a
			}
			l, r = r, l
		}
		if x = l*p.a + r; x < p.n {
			return x
		}
	}
}
