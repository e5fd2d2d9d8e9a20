package sampler

// Shuffle visits window permute(key(seed, epoch, 1), n, p) at entry p. permute is a generalised
// Feistel network with cycle walking (Black, Rogaway: Ciphers with arbitrary finite domains, CT-RSA
// 2002, method 3).
//
// Let a be the least even integer whose square is at least n, and x = l·a + r. For i from 0 to
// rounds−1, do (l, r) ← (r, (l + below(draw(draw(key, i), r), a)) mod a). The result is l·a + r.
// While it is n or more, the network is applied to it again. rounds is 8, and 16 if n < 4096.
// Because (a−2)² < n, fewer than 4a of the a² numbers are outside of [0, n).
const Shuffle = "shuffle"

var shuffleKind = kind{
	name:   Shuffle,
	cursor: cursorFields{seed: true},
	new: func(x Windows, o Options) (order,
		error) {
		return &shuffle{n: x.Len(), seed: o.Seed}, nil
	},
}

type shuffle struct {
	n           int64
	seed        uint64
	permutation permutation
}

func (s *shuffle) minEntries() int64 { return s.n }

func (s *shuffle) begin(epoch uint64) int64 {
	s.permutation = newPermutation(epochKey(s.seed, epoch, forShuffle), uint64(s.n))
	return s.n
}

func (s *shuffle) append(dst []int64, first, count int64) []int64 {
	return s.permutation.append(dst, uint64(first), uint64(count))
}
