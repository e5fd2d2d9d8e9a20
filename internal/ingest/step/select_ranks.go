package step

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bounds of the number of values that searches sample.
const (
	sampledTogether = 1 << 20 // of all searches in the same pass
	maxSampled      = 1 << 19 // of one search
	minSampled      = 1 << 12 // of one search
)

// ranks finds the values of some ranks of a multiset. The caller passes all values to it, in any
// order, until all ranks are found, usually two or three times.
//
// It samples the values, estimates from the sample two values that a rank lies between, and then
// counts the values below and sorts those between, as Floyd and Rivest's SELECT ("Expected Time
// Bounds for Selection", 1975), but in bounded memory and one direction. The result is exact: if an
// estimate is wrong, or too many values lie between its ends, the next pass has a better one.
// Missing values (NaN) are not members.
type ranks struct {
	n, seen  int64 // members, and those of this pass so far
	capacity int   // of a sample, in values
	brackets []*bracket
	found    map[int64]float64
	random   *rand.PCG
}

// bracket is an interval from low to high in which a pass searches ranks.
type bracket struct {
	wanted         []int64 // ascending
	floor, ceiling float64 // certain bounds of the wanted values
	low, high      float64

	// Numbers of members v < low, v <= low, v < high, v <= high, and low < v < high.
	belowLow, toLow, belowHigh, toHigh, inside int64

	sample   []float64 // of the members inside: a random one of each group of every
	capacity int
	every    int64 // members of a group
	drawn    int64 // index among the members inside of the next that is sampled
	random   *rand.PCG
}

// newRanks returns a search among n members. together is the number of searches that are active in
// the same pass, so that their samples exist at the same time.
func newRanks(n int64, wanted []int64, together int) *ranks {
	r := &ranks{
		n: n, capacity: max(minSampled, min(maxSampled, sampledTogether/together)),
		found: map[int64]float64{}, random: rand.NewPCG(uint64(n), 0x72616e6b),
	}
	b := r.bracket(wanted, math.Inf(-1), math.Inf(1))
	if n > int64(r.capacity) {
		// A larger sample takes longer to sort, a smaller one leaves more values between its
		// estimates. At about (10 n)^⅔ both cost the same.
		size := math.Pow(10*float64(n), 2.0/3)
		b.every = int64(math.Ceil(float64(n) / min(size, float64(r.capacity))))
		b.drawn = b.position(0)
	}
	r.brackets = []*bracket{b}
	return r
}

// bracket returns a bracket of ranks with certain bounds.
func (r *ranks) bracket(wanted []int64, floor, ceiling float64) *bracket {
	return &bracket{
		wanted: wanted, floor: floor, ceiling: ceiling, low: floor, high: ceiling,
		capacity: r.capacity, every: 1, random: r.random,
	}
}

// done reports whether all ranks are found.
func (r *ranks) done() bool { return len(r.brackets) == 0 }

// add adds values of a pass. scratch must be at least as long.
func (r *ranks) add(values, scratch []float64) {
	for _, v := range values {
		if v == v {
			r.seen++
		}
	}
	for _, b := range r.brackets {
		b.draw(scratch[:b.count(values, scratch)])
	}
}

// count counts values and copies those inside to scratch. No branch in it depends on a value,
// because processors would mispredict about half of them.
func (b *bracket) count(values, scratch []float64) (inside int) {
	low, high := b.low, b.high
	var belowLow, toLow, belowHigh, toHigh int
	scratch = scratch[:len(values)]
	for _, v := range values {
		below, upTo, less, most := one(v < low), one(v <= low), one(v < high), one(v <= high)
		scratch[inside] = v
		belowLow, toLow, belowHigh, toHigh = belowLow+below, toLow+upTo, belowHigh+less, toHigh+most
		inside += less &^ upTo
	}
	b.belowLow += int64(belowLow)
	b.toLow += int64(toLow)
	b.belowHigh += int64(belowHigh)
	b.toHigh += int64(toHigh)
	return inside
}

// one returns 1 for true, 0 for false, without a branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// draw samples values inside. If the sample is full, it drops half of it and draws half as often.
func (b *bracket) draw(inside []float64) {
	first := b.inside
	b.inside += int64(len(inside))
	for b.drawn < b.inside {
		b.sample = append(b.sample, inside[b.drawn-first])
		if len(b.sample) == b.capacity { // the capacity is even
			for i := range b.capacity / 2 {
				b.sample[i] = b.sample[2*i+int(b.random.Uint64()&1)]
			}
			b.sample = b.sample[:b.capacity/2]
			b.every *= 2
		}
		b.drawn = b.position(int64(len(b.sample)))
	}
}

// position returns the index among the values inside of the i-th that is sampled.
func (b *bracket) position(i int64) int64 {
	return i*b.every + int64(b.random.Uint64()%uint64(b.every))
}

// narrow ends a pass: it stores the ranks that were found and sets the brackets of the others.
func (r *ranks) narrow() {
	var next []*bracket
	for _, b := range r.brackets {
		slices.Sort(b.sample)
		var below, above, between []int64
		for _, rank := range b.wanted {
			switch {
			case rank < b.belowLow:
				below = append(below, rank)
			case rank < b.toLow:
				r.found[rank] = b.low
			case rank < b.belowHigh && b.every == 1:
				r.found[rank] = b.sample[rank-b.toLow]
			case rank < b.belowHigh:
				between = append(between, rank)
			case rank < b.toHigh:
				r.found[rank] = b.high
			default:
				above = append(above, rank)
			}
		}
		if below != nil {
			next = append(next, r.bracket(below, b.floor, b.low))
		}
		for from := 0; from < len(between); {
			to := from + 1
			for to < len(between) && between[to] <= between[to-1]+1 {
				to++
			}
			next = append(next, r.estimate(b, between[from:to]))
			from = to
		}
		if above != nil {
			next = append(next, r.bracket(above, b.high, b.ceiling))
		}
	}
	r.brackets, r.seen = next, 0
}

// estimate returns the bracket of neighbouring ranks by the sample of a bracket: four standard
// deviations of the position that a value of the rank has in the sample.
func (r *ranks) estimate(of *bracket, wanted []int64) *bracket {
	b := r.bracket(wanted, of.low, of.high)
	n := float64(len(of.sample))
	position := func(rank int64) (at, margin float64) {
		share := (float64(rank-of.toLow) + 0.5) / float64(of.inside)
		return share * n, 4*math.Sqrt(share*(1-share)*n) + 2
	}
	if at, margin := position(wanted[0]); at >= margin {
		b.low = of.sample[int(at-margin)]
	}
	if at, margin := position(wanted[len(wanted)-1]); at+margin < n {
		b.high = of.sample[int(at+margin)]
	}
	return b
}
