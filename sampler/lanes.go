package sampler

// Lanes assigns each row of the batches to one item until its windows end, for recurrent models
// that carry state from batch to batch.
//
// Items with windows are in the order permute(key(seed, epoch, 5), items, ·), permute as in
// [Shuffle]. Their windows are concatenated and rotated to begin at below(key(seed, epoch, 6), n).
// The result is divided into W = B·R lanes of q = ⌊n/W⌋ windows each: entry t·W + l with t < q
// is window t of lane l. The remaining windows, fewer than W, are the last step, to which the tail
// applies.
//
// [Batch.Reset] is true if a row does not continue the same row of the rank's previous batch: if it
// is not the next window of the same run, if a jump in time (max_step) separates the two, and in
// the first rows of an epoch.
const Lanes = "lanes"

var lanesKind = kind{
	name:   Lanes,
	traits: Traits{Resets: true},
	cursor: cursorFields{seed: true, lanes: true},
	new:    newLanes,
}

type lanes struct {
	windows  Windows
	n        int64
	seed     uint64
	width    int64         // lanes: batch_size · num_replicas
	items    []itemWindows // in item order
	rotation int64
	order    []int   // permutation of the items
	ends     []int64 // ends[i] is the number of windows of the items order[:i+1]
}

func newLanes(x Windows, o Options) (order, error) {
	items := itemsOf(x)
	return &lanes{
		windows: x, n: x.Len(), seed: o.Seed, width: o.BatchSize.count() * o.NumReplicas,
		items: items, order: make([]int, len(items)), ends: make([]int64, len(items)),
	}, nil
}

func (s *lanes) minEntries() int64 { return s.n }

func (s *lanes) begin(epoch uint64) int64 {
	permutation := newPermutation(epochKey(s.seed, epoch, forItems), uint64(len(s.items)))
	s.rotation = int64(below(epochKey(s.seed, epoch, forRotation), uint64(s.n)))
	items, order, ends := s.items, s.order, s.ends
	for i := range order { // a separate loop, so that the random reads of the next one overlap
		order[i] = int(permutation.at(uint64(i)))
	}
	sum := int64(0)
	for i, at := range order {
		sum += items[at].count
		ends[i] = sum
	}
	return s.n
}

// window returns the window of an entry.
func (s *lanes) window(p int64) int64 {
	if length := s.n / s.width; p < length*s.width {
		p = p%s.width*length + p/s.width
	}
	if p += s.rotation; p >= s.n {
		p -= s.n
	}
	i := firstAbove(s.ends, p)
	it := s.items[s.order[i]]
	return it.first + it.count - (s.ends[i] - p)
}

func (s *lanes) append(dst []int64, first, count int64) []int64 {
	for p := first; p < first+count; p++ {
		dst = append(dst, s.window(p))
	}
	return dst
}

func (s *lanes) appendResets(dst []bool, windows []int64, before int64) []bool {
	for i, w := range windows {
		p := before + int64(i)
		dst = append(dst, p < 0 || s.window(p)+1 != w || !s.windows.Continues(w))
	}
	return dst
}
