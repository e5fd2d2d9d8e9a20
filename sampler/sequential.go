package sampler

import "slices"

// Sequential visits window p at entry p.
const Sequential = "sequential"

var sequentialKind = kind{
	name:   Sequential,
	traits: Traits{Ascending: true, Consecutive: true},
	new:    func(x Windows, _ Options) (order, error) { return sequential{x.Len()}, nil },
}

type sequential struct{ n int64 }

func (s sequential) minEntries() int64 { return s.n }

func (s sequential) begin(uint64) int64 { return s.n }

func (s sequential) append(dst []int64, first, count int64) []int64 {
	return appendConsecutive(dst, first, count)
}

// appendConsecutive appends count numbers from first on.
func appendConsecutive(dst []int64, first, count int64) []int64 {
	dst = slices.Grow(dst, int(count))
	at := len(dst)
	dst = dst[:at+int(count)]
	for i := range dst[at:] {
		dst[at+i] = first + int64(i)
	}
	return dst
}
