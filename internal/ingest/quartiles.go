package ingest

import (
	"context"
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// sortAtMost is how many values are collected and sorted; the ranks of more are found by counting passes, which take no memory.
const sortAtMost = 1 << 16

// quartiles are the 25th, 50th and 75th percentiles of what the fit sees, between neighbours on the line as numpy's and
// scikit-learn's RobustScaler: exactly, in the memory of a few counters.
func quartiles[S float32 | float64](ctx context.Context, p *preparation, s steps, from layout.Strided[S], fits []moments.Moments) ([][3]float64, error) {
	width := int(from.Width)
	small := make([][]float64, len(fits))
	large := make([]*ranks, len(fits))
	counting := false
	for i, m := range fits {
		if m.N > sortAtMost {
			large[i], counting = newRanks(m.N), true
		}
	}
	out := make([][3]float64, len(fits))
	for pass := range radixPasses {
		err := each(ctx, p, s, from, p.fit.high, func(item, feature int, values []float64, row int64) error {
			at := p.slot(item, feature, width)
			values = p.fit.keep(item, values, row)
			if r := large[at]; r != nil {
				r.count(values, pass)
				return nil
			}
			if pass > 0 {
				return nil
			}
			for _, v := range values {
				if v == v {
					small[at] = append(small[at], v)
				}
			}
			if int64(len(small[at])) == fits[at].N { // all seen: give the memory back
				slices.Sort(small[at])
				out[at] = quartilesOf(int64(len(small[at])), func(rank int64) float64 { return small[at][rank] })
				small[at] = nil
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, r := range large {
			if r != nil {
				r.narrow(pass)
			}
		}
		if !counting {
			break
		}
	}
	for i, r := range large {
		if r != nil {
			out[i] = quartilesOf(fits[i].N, r.value)
		}
	}
	return out, nil
}

// quartilesOf interpolates between the values of neighbouring ranks.
func quartilesOf(n int64, value func(rank int64) float64) (q [3]float64) {
	if n == 0 {
		return q
	}
	for i := range q {
		below, share := quartileRank(n, i)
		a, b := value(below), value(min(below+1, n-1))
		if q[i] = a; share > 0 && a != b {
			q[i] = a + (b-a)*share
		}
	}
	return q
}

// quartileRank is the rank at or below a quartile of n values, and how far that lies from it to the next.
func quartileRank(n int64, quartile int) (below int64, share float64) {
	quarters := (n - 1) * int64(quartile+1)
	return quarters / 4, float64(quarters%4) / 4
}

// How a value's 64 ordered bits are counted: so many bits a pass.
const (
	radixBits   = 16
	radixPasses = 64 / radixBits
)

// ranks finds the values of some ranks of a multiset that is shown to it several times: each pass counts, among the values that
// begin with the bits found so far, the next bits.
type ranks struct {
	wanted []rank
	counts map[uint64][]int64 // by the bits found so far
}

type rank struct {
	rank, left int64 // left: its rank among the values that begin with bits
	bits       uint64
}

func newRanks(n int64) *ranks {
	r := &ranks{}
	for q := range 3 {
		below, _ := quartileRank(n, q)
		for _, at := range []int64{below, min(below+1, n-1)} {
			r.wanted = append(r.wanted, rank{rank: at, left: at})
		}
	}
	r.expect()
	return r
}

// expect makes the counters of the next pass.
func (r *ranks) expect() {
	r.counts = map[uint64][]int64{}
	for _, w := range r.wanted {
		if r.counts[w.bits] == nil {
			r.counts[w.bits] = make([]int64, 1<<radixBits)
		}
	}
}

func (r *ranks) count(values []float64, pass int) {
	shift := 64 - radixBits*pass // of the bits found so far
	for prefix, counts := range r.counts {
		for _, v := range values {
			bits := ordered(v)
			if v == v && (pass == 0 || bits>>shift == prefix) {
				counts[bits>>(shift-radixBits)&(1<<radixBits-1)]++
			}
		}
	}
}

// narrow finds the next bits of every rank.
func (r *ranks) narrow(pass int) {
	for i := range r.wanted {
		w := &r.wanted[i]
		for digit, n := range r.counts[w.bits] {
			if w.left < n {
				w.bits = w.bits<<radixBits | uint64(digit)
				break
			}
			w.left -= n
		}
	}
	if pass+1 < radixPasses {
		r.expect()
	} else {
		r.counts = nil
	}
}

func (r *ranks) value(at int64) float64 {
	i := slices.IndexFunc(r.wanted, func(w rank) bool { return w.rank == at })
	return unordered(r.wanted[i].bits)
}

// ordered are bits that sort as the values do; NaN aside.
func ordered(v float64) uint64 {
	bits := math.Float64bits(v)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func unordered(bits uint64) float64 {
	if bits>>63 != 0 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}
