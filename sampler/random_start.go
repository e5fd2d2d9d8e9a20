package sampler

import "iter"

// RandomStart visits blocks of consecutive windows. Run j of the index is divided into blocks of B
// = batch_size windows. The first block has below(draw(key(seed, epoch, 4), j), B) windows, or B if
// that is 0. The first and the last block of a run may be shorter. Blocks are numbered run by run.
// Entry p is block permute(key(seed, epoch, 3), blocks, p), permute as in [Shuffle].
const RandomStart = "random_start"

var randomStartKind = kind{
	name:   RandomStart,
	traits: Traits{Consecutive: true, Blocks: true, VariableLength: true},
	cursor: cursorFields{seed: true, batchSize: true},
	new: func(x Windows, o Options) (order, error) {
		return &randomStart{windows: x, seed: o.Seed, batchSize: o.BatchSize.count(),
			ends: make([]int64, x.RunCount())}, nil
	},
}

type randomStart struct {
	windows     Windows
	seed        uint64
	batchSize   int64
	ends        []int64 // ends[j] is the number of blocks in runs[:j+1]
	phases      uint64  // key of the lengths of first blocks
	permutation permutation
}

func (s *randomStart) minEntries() int64 {
	sum := int64(0)
	for i := range s.windows.RunCount() {
		_, _, count := s.windows.RunAt(i)
		sum += (count-1)/s.batchSize + 1
	}
	return sum
}

func (s *randomStart) begin(epoch uint64) int64 {
	s.phases = epochKey(s.seed, epoch, forPhases)
	sum := int64(0)
	for j := range s.ends {
		_, _, count := s.windows.RunAt(j)
		if head := s.head(j); count > head {
			sum += (count - head + s.batchSize - 1) / s.batchSize
		}
		sum++
		s.ends[j] = sum
	}
	s.permutation = newPermutation(epochKey(s.seed, epoch, forBlocks), uint64(sum))
	return sum
}

// head returns the length of a run's first block, from 1 to the batch size. A shorter run is one
// block.
func (s *randomStart) head(run int) int64 {
	if head := int64(below(draw(s.phases, uint64(run)), uint64(s.batchSize))); head > 0 {
		return head
	}
	return s.batchSize
}

// block returns the windows of an entry's block.
func (s *randomStart) block(entry int64) (first, count int64) {
	k := int64(s.permutation.at(uint64(entry)))
	j := firstAbove(s.ends, k)
	if j > 0 {
		k -= s.ends[j-1]
	}
	_, number, windows := s.windows.RunAt(j)
	head := s.head(j)
	if k == 0 {
		return number, min(head, windows)
	}
	from := head + (k-1)*s.batchSize
	return number + from, min(s.batchSize, windows-from)
}

func (s *randomStart) append(dst []int64, first, count int64) []int64 {
	for entry := first; entry < first+count; entry++ {
		number, windows := s.block(entry)
		dst = appendConsecutive(dst, number, windows)
	}
	return dst
}

func (s *randomStart) size(entry int64) int64 {
	_, count := s.block(entry)
	return count
}

func (s *randomStart) largest() int64 { return s.batchSize }

// uneven yields the first and the last block of each run. All others have batch_size windows.
func (s *randomStart) uneven() iter.Seq2[int64, int64] {
	return func(yield func(entry, size int64) bool) {
		at := func(block int64) int64 { return int64(s.permutation.inverse(uint64(block))) }
		from := int64(0)
		for j, end := range s.ends {
			_, _, windows := s.windows.RunAt(j)
			head := s.head(j)
			if !yield(at(from), min(head, windows)) {
				return
			}
			if end-from > 1 && !yield(at(end-1), windows-head-(end-from-2)*s.batchSize) {
				return
			}
			from = end
		}
	}
}
