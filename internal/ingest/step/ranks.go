package step

import (
	"math"
	"math/rand/v2"
	"slices"
)

// How many values a search may keep at once: of all fits that are shown their values together, of one at most, and of one at least.
const (
	keptTogether = 1 << 20
	keptMost     = 1 << 19
	keptLeast    = 1 << 12
)

// ranks finds the values of some ranks of a multiset that is shown to it again and again, in whatever order, until all are found:
// two or three times. It samples the values, guesses from the sample between which values a rank lies, and then counts those below and
// sorts those between, as Floyd and Rivest's SELECT ("Expected Time Bounds for Selection", 1975), but in a bounded memory and from
// first to last. What it finds is exact: a guess that was wrong, or between whose ends too many lie, is made again of what is known by
// then. Missing values (NaN) are no members.
type ranks struct {
	n, seen  int64 // members, and those shown so far in this pass
	room     int   // values that are kept at once
	brackets []*bracket
	found    map[int64]float64
	random   *rand.PCG
}

// bracket is where ranks are looked for in a pass: from low to high, which lie within the values that the ranks are known to lie within.
type bracket struct {
	wanted         []int64 // ascending
	floor, ceiling float64 // no wanted value is less or greater
	low, high      float64

	// Members below low, up to low, below high and up to high; inside are those between, without the ends.
	belowLow, toLow, belowHigh, toHigh, inside int64

	kept   []float64 // of those inside one of every so many, drawn at random from each so many in turn
	room   int
	every  int64
	drawn  int64 // among those inside, the place of the next to be kept
	random *rand.PCG
}

// newRanks prepares for n members. together is how many searches are made at the same time.
func newRanks(n int64, wanted []int64, together int) *ranks {
	r := &ranks{n: n, room: max(keptLeast, min(keptMost, keptTogether/together)), found: map[int64]float64{}, random: rand.NewPCG(uint64(n), 0x72616e6b)}
	b := r.bracket(wanted, math.Inf(-1), math.Inf(1))
	if n > int64(r.room) {
		// A larger sample takes longer to sort, a smaller one leaves more between its guesses: about (10 n)^⅔ is as much of both.
		guess := math.Pow(10*float64(n), 2.0/3)
		b.every = int64(math.Ceil(float64(n) / min(guess, float64(r.room))))
		b.drawn = b.draw(0)
	}
	r.brackets = []*bracket{b}
	return r
}

// bracket looks for ranks among all values that they may have.
func (r *ranks) bracket(wanted []int64, floor, ceiling float64) *bracket {
	return &bracket{wanted: wanted, floor: floor, ceiling: ceiling, low: floor, high: ceiling, room: r.room, every: 1, random: r.random}
}

func (r *ranks) done() bool { return len(r.brackets) == 0 }

// see takes in values of a pass. scratch has room for as many.
func (r *ranks) see(values, scratch []float64) {
	for _, v := range values {
		if v == v {
			r.seen++
		}
	}
	for _, b := range r.brackets {
		b.keep(scratch[:b.count(values, scratch)])
	}
}

// count counts values and puts those inside into scratch. There is no branch in it that depends on a value: most processors would
// guess every other one wrong.
func (b *bracket) count(values, scratch []float64) (inside int) {
	low, high := b.low, b.high
	var belowLow, toLow, belowHigh, toHigh int
	scratch = scratch[:len(values)]
	for _, v := range values {
		under, to, less, most := one(v < low), one(v <= low), one(v < high), one(v <= high)
		scratch[inside] = v
		belowLow, toLow, belowHigh, toHigh = belowLow+under, toLow+to, belowHigh+less, toHigh+most
		inside += less &^ to
	}
	b.belowLow += int64(belowLow)
	b.toLow += int64(toLow)
	b.belowHigh += int64(belowHigh)
	b.toHigh += int64(toHigh)
	return inside
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keep keeps one of every so many of the values inside, and of all so far fewer when there is no room for them.
func (b *bracket) keep(inside []float64) {
	first := b.inside
	b.inside += int64(len(inside))
	for b.drawn < b.inside {
		b.kept = append(b.kept, inside[b.drawn-first])
		if len(b.kept) == b.room { // even
			for i := range b.room / 2 {
				b.kept[i] = b.kept[2*i+int(b.random.Uint64()&1)]
			}
			b.kept = b.kept[:b.room/2]
			b.every *= 2
		}
		b.drawn = b.draw(int64(len(b.kept)))
	}
}

// draw is the place of the i-th to be kept.
func (b *bracket) draw(i int64) int64 {
	return i*b.every + int64(b.random.Uint64()%uint64(b.every))
}

// narrow ends a pass: it takes what was found, and says where to look for the others.
func (r *ranks) narrow() {
	var next []*bracket
	for _, b := range r.brackets {
		slices.Sort(b.kept)
		var below, above, between []int64
		for _, rank := range b.wanted {
			switch {
			case rank < b.belowLow:
				below = append(below, rank)
			case rank < b.toLow:
				r.found[rank] = b.low
			case rank < b.belowHigh && b.every == 1:
				r.found[rank] = b.kept[rank-b.toLow]
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
			next = append(next, r.guess(b, between[from:to]))
			from = to
		}
		if above != nil {
			next = append(next, r.bracket(above, b.high, b.ceiling))
		}
	}
	r.brackets, r.seen = next, 0
}

// guess is where neighbouring ranks lie as the values kept of a bracket let expect: by four standard deviations of the place of a value
// of that rank in a sample.
func (r *ranks) guess(of *bracket, wanted []int64) *bracket {
	b := r.bracket(wanted, of.low, of.high)
	n := float64(len(of.kept))
	place := func(rank int64) (at, margin float64) {
		share := (float64(rank-of.toLow) + 0.5) / float64(of.inside)
		return share * n, 4*math.Sqrt(share*(1-share)*n) + 2
	}
	if at, margin := place(wanted[0]); at >= margin {
		b.low = of.kept[int(at-margin)]
	}
	if at, margin := place(wanted[len(wanted)-1]); at+margin < n {
		b.high = of.kept[int(at+margin)]
	}
	return b
}
