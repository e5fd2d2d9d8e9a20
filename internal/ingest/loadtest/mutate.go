package loadtest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// Mutate returns a damaged copy of b. It applies one to three random mutations: it changes a bit, a
// byte or an integer, truncates, or deletes or repeats a range of bytes. b must not be empty.
func Mutate(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b))
		if rng.IntN(2) == 0 { // prefer the beginning and the end, where most formats have metadata
			at = min(at, rng.IntN(200))
			if rng.IntN(2) == 0 {
				at = len(b) - 1 - min(at, len(b)-1)
			}
		}
		size := min(1+rng.IntN(40), len(b)-at)
		switch rng.IntN(7) {
		case 0, 1:
			b[at] ^= 1 << rng.IntN(8)
		case 2:
			b[at] = byte(rng.Uint32())
		case 3:
			v := []uint64{
				0, 1, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64,
				rng.Uint64(), uint64(len(b)),
			}[rng.IntN(8)]
			copy(b[at:], binary.LittleEndian.AppendUint64(nil, v)[:4*(1+rng.IntN(2))])
		case 4:
			if at > 0 {
				b = b[:at]
			}
		case 5:
			b = slices.Delete(b, at, at+min(size, len(b)-1))
		case 6:
			b = slices.Insert(b, at, slices.Clone(b[at:at+size])...)
		}
	}
	return b
}
