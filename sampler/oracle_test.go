package sampler_test

import (
	"maps"
	"math/big"
	"slices"

	"github.com/tensorcache/tensorcache/sampler"
)

// The oracle lists a whole epoch, window by window, from the formulas in the comments of the
// orders. It shares no code with the package.

// two64 is 2⁶⁴.
var two64 = new(big.Int).Lsh(big.NewInt(1), 64)

// wrap64 reduces a number modulo 2⁶⁴.
func wrap64(x *big.Int) *big.Int { return new(big.Int).Mod(x, two64) }

// u converts x to a big.Int.
func u(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

// times returns x times a hexadecimal factor, modulo 2⁶⁴.
func times(x *big.Int, hex string) *big.Int {
	f, _ := new(big.Int).SetString(hex, 16)
	return wrap64(new(big.Int).Mul(x, f))
}

// xorShift returns x XOR (x >> by).
func xorShift(x *big.Int, by uint) *big.Int {
	return new(big.Int).Xor(x, new(big.Int).Rsh(x, by))
}

// outputOf returns output i of splitmix64 seeded with k.
func outputOf(k, i uint64) uint64 {
	z := wrap64(new(big.Int).Add(u(k), times(new(big.Int).Add(u(i), u(1)), "9e3779b97f4a7c15")))
	z = times(xorShift(z, 30), "bf58476d1ce4e5b9")
	z = times(xorShift(z, 27), "94d049bb133111eb")
	return xorShift(z, 31).Uint64()
}

// keyOf returns the key of an epoch for a purpose. Each order has the numbers of its purposes.
func keyOf(seed, epoch, purpose uint64) uint64 {
	return outputOf(outputOf(outputOf(0, seed), epoch), purpose)
}

// scale maps x from [0, 2⁶⁴) to [0, n).
func scale(x, n uint64) uint64 {
	return new(big.Int).Rsh(new(big.Int).Mul(u(x), u(n)), 64).Uint64()
}

// permuted returns the images of 0, 1, … n−1 under the permutation of key.
func permuted(key, n uint64) []int64 {
	a := uint64(2)
	for a*a < n {
		a += 2
	}
	rounds := uint64(8)
	if n < 4096 {
		rounds = 16
	}
	list := make([]int64, n)
	for x := range n {
		y := x
		for ok := false; !ok; ok = y < n {
			l, r := y/a, y%a
			for i := range rounds {
				l, r = r, (l+scale(outputOf(outputOf(key, i), r), a))%a
			}
			y = l*a + r
		}
		list[x] = int64(y)
	}
	return list
}

// run is a range of consecutive windows of one item.
type run struct{ item, count int64 }

// list implements sampler.Windows.
type list struct {
	runs       []run
	contiguous bool
	jumps      []int64 // windows that a jump separates from the previous one of their run
	// times are, for each run, the time of its first window, and the step from a window to the next;
	// nil for 0 and 1.
	times [][2]int64
}

func (l list) Len() int64 {
	n := int64(0)
	for _, r := range l.runs {
		n += r.count
	}
	return n
}
func (l list) RunCount() int { return len(l.runs) }
func (l list) RunAt(i int) (item, first, count int64) {
	for _, r := range l.runs[:i] {
		first += r.count
	}
	return l.runs[i].item, first, l.runs[i].count
}
func (l list) Contiguous() bool { return l.contiguous }

// byTime returns the windows of each time, in ascending order of time.
func (l list) byTime() (groups [][]uint32) {
	windows := map[int64][]uint32{}
	for i := range l.runs {
		_, first, count := l.RunAt(i)
		time := [2]int64{0, 1}
		if l.times != nil {
			time = l.times[i]
		}
		for k := range count {
			at := time[0] + k*time[1]
			windows[at] = append(windows[at], uint32(first+k))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(windows)) {
		groups = append(groups, windows[at])
	}
	return groups
}
func (l list) GroupCount() int64      { return int64(len(l.byTime())) }
func (l list) Group(i int64) []uint32 { return l.byTime()[i] }

// grouped is a list whose groups are listed once.
type grouped struct {
	list
	groups [][]uint32
}

func newGrouped(l list) grouped          { return grouped{l, l.byTime()} }
func (g grouped) GroupCount() int64      { return int64(len(g.groups)) }
func (g grouped) Group(i int64) []uint32 { return g.groups[i] }
func (l list) Continues(window int64) bool {
	continues := !slices.Contains(l.jumps, window)
	for i := range l.runs {
		_, first, _ := l.RunAt(i)
		continues = continues && first != window
	}
	return continues
}

// epochWindows returns the windows of each entry of an epoch: one window, one block in random_start,
// or one piece in cross_section.
func epochWindows(x list, o sampler.Options, epoch uint64) (entries [][]int64) {
	n := x.Len()
	switch o.Order {
	case "sequential", "":
		for w := range n {
			entries = append(entries, []int64{w})
		}
	case "shuffle":
		for _, w := range permuted(keyOf(o.Seed, epoch, 1), uint64(n)) {
			entries = append(entries, []int64{w})
		}
	case "bootstrap":
		for p := range uint64(n) {
			entries = append(entries, []int64{drawWindow(x, o, keyOf(o.Seed, epoch, 2), p)})
		}
	case "random_start":
		blocks := blocksOf(x, o, epoch)
		for _, b := range permuted(keyOf(o.Seed, epoch, 3), uint64(len(blocks))) {
			entries = append(entries, blocks[b])
		}
	case "lanes":
		for _, w := range lanesOf(x, o, epoch) {
			entries = append(entries, []int64{w})
		}
	case "cross_section":
		groups := visitedGroups(x, o)
		for _, g := range permuted(keyOf(o.Seed, epoch, 8), uint64(len(groups))) {
			entries = append(entries, piecesOf(groups[g], o)...)
		}
	case "cross_section_sequential":
		for _, group := range visitedGroups(x, o) {
			entries = append(entries, piecesOf(group, o)...)
		}
	}
	return entries
}

// visitedGroups returns the groups with at least min_items windows, by time.
func visitedGroups(x list, o sampler.Options) (groups [][]uint32) {
	for _, group := range x.byTime() {
		if int64(len(group)) >= o.MinItems {
			groups = append(groups, group)
		}
	}
	return groups
}

// piecesOf returns the pieces of a group.
func piecesOf(group []uint32, o sampler.Options) (pieces [][]int64) {
	for i, w := range group {
		if i == 0 || o.BatchSize != sampler.WholeGroups && i%int(o.BatchSize) == 0 {
			pieces = append(pieces, nil)
		}
		last := len(pieces) - 1
		pieces[last] = append(pieces[last], int64(w))
	}
	return pieces
}

// drawWindow returns the window at entry p of an epoch of bootstrap.
func drawWindow(x list, o sampler.Options, key, p uint64) int64 {
	if o.Weights.IsZero() {
		return int64(scale(outputOf(key, p), uint64(x.Len())))
	}
	items := x.runs[len(x.runs)-1].item + 1
	weights := o.Weights.Items
	if o.Weights.Name == sampler.EvenWeights {
		weights = slices.Repeat([]float64{1}, int(items))
	}
	total := 0.0
	for item := range items {
		if len(windowsOf(x, item)) > 0 {
			total += weights[item]
		}
	}
	share := float64(outputOf(key, 2*p)>>11) / (1 << 53) * total
	sum := 0.0
	for item := range items {
		ws := windowsOf(x, item)
		if len(ws) == 0 {
			continue
		}
		if sum += weights[item]; sum > share {
			return ws[scale(outputOf(key, 2*p+1), uint64(len(ws)))]
		}
	}
	panic("no item")
}

// windowsOf returns the windows of an item.
func windowsOf(x list, item int64) (ws []int64) {
	for i := range x.runs {
		it, first, count := x.RunAt(i)
		for w := first; it == item && w < first+count; w++ {
			ws = append(ws, w)
		}
	}
	return ws
}

// blocksOf returns the blocks of an epoch of random_start, in the order of their windows.
func blocksOf(x list, o sampler.Options, epoch uint64) (blocks [][]int64) {
	key, size := keyOf(o.Seed, epoch, 4), int64(o.BatchSize)
	for j := range x.runs {
		_, first, count := x.RunAt(j)
		phase := int64(scale(outputOf(key, uint64(j)), uint64(size)))
		var block []int64
		for i := range count {
			if i > 0 && (i-phase)%size == 0 {
				blocks = append(blocks, block)
				block = nil
			}
			block = append(block, first+i)
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// lanesOf returns the windows of an epoch of lanes, in the order of their entries.
func lanesOf(x list, o sampler.Options, epoch uint64) []int64 {
	var items []int64
	for _, r := range x.runs {
		if len(items) == 0 || items[len(items)-1] != r.item {
			items = append(items, r.item)
		}
	}
	var line []int64
	for _, i := range permuted(keyOf(o.Seed, epoch, 5), uint64(len(items))) {
		line = append(line, windowsOf(x, items[i])...)
	}
	turn := scale(keyOf(o.Seed, epoch, 6), uint64(len(line)))
	line = append(line[turn:], line[:turn]...)
	lanes := int64(o.BatchSize) * o.NumReplicas
	length := int64(len(line)) / lanes
	var windows []int64
	for t := range length {
		for l := range lanes {
			windows = append(windows, line[l*length+t])
		}
	}
	return append(windows, line[lanes*length:]...)
}

// isOfBlocks reports whether an entry of an order is a batch.
func isOfBlocks(order string) bool {
	return slices.Contains([]string{"random_start", "cross_section", "cross_section_sequential"},
		order)
}

// isOfGroups reports whether a batch of an order has windows of one time.
func isOfGroups(order string) bool { return order != "random_start" && isOfBlocks(order) }

// step assigns the entries of one step to the ranks, one at a time; nil if the epoch is over.
func step(entries [][]int64, o sampler.Options, consumed int64) (ranks [][]int64, next int64) {
	unit := int64(o.BatchSize)
	if isOfBlocks(o.Order) {
		unit = 1
	}
	full, left := unit*o.NumReplicas, int64(len(entries))-consumed
	if left <= 0 || o.Tail == "drop" && left < full {
		return nil, consumed
	}
	ranks = make([][]int64, o.NumReplicas)
	shares := make([]int64, o.NumReplicas)
	if left >= full || o.Tail == "wrap" {
		for r := range shares {
			shares[r] = unit
		}
	} else {
		for i := range left { // one for each rank in turn
			shares[i%o.NumReplicas]++
		}
	}
	next = min(consumed+full, int64(len(entries)))
	for r := range ranks {
		ranks[r] = []int64{}
		for range shares[r] {
			ranks[r] = append(ranks[r], entries[consumed%int64(len(entries))]...)
			consumed++
		}
	}
	return ranks, next
}
