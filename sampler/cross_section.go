package sampler

import (
	"iter"
	"slices"
)

// CrossSection visits windows of one time together, for models that compare items with each other.
//
// Windows are in groups (see [Grouped]), in ascending order of time. Groups with fewer than
// min_items windows are left out; G groups are left. A group of m windows has ⌈m/B⌉ pieces of B =
// batch_size windows, the last of which may be shorter. With [WholeGroups] it has one. An entry is a
// piece: the epoch has the pieces of group permute(key(seed, epoch, 8), G, 0), then those of group
// permute(key(seed, epoch, 8), G, 1) and so on, permute as in [Shuffle].
const CrossSection = "cross_section"

// CrossSectionSequential is [CrossSection] without the permutation: groups are visited by time.
const CrossSectionSequential = "cross_section_sequential"

var crossSectionKind = kind{
	name:   CrossSection,
	traits: Traits{Blocks: true, Groups: true},
	cursor: cursorFields{seed: true, batchSize: true, minItems: true},
	new:    newCrossSection,
}

var crossSectionSequentialKind = kind{
	name:   CrossSectionSequential,
	traits: Traits{Blocks: true, Groups: true},
	cursor: cursorFields{batchSize: true, minItems: true},
	new:    newCrossSection,
}

type crossSection struct {
	groups Grouped
	kept   []uint32 // the groups that are visited; nil for all
	count  int64    // number of groups that are visited
	most   int64    // windows of the largest group
	length int64    // windows of a piece, 0 if each group is one piece
	pieces int64

	shuffled    bool
	seed        uint64
	permutation permutation // of an epoch, if shuffled
	ends        []int64     // ends[i] is the number of pieces of the first i+1 groups of an epoch
}

func newCrossSection(x Windows, o Options) (order, error) {
	s := &crossSection{groups: x.(Grouped), length: o.BatchSize.count(), seed: o.Seed,
		shuffled: o.Order == CrossSection}
	var err error
	if s.kept, s.most, err = keptGroups(s.groups, o.MinItems); err != nil {
		return nil, err
	}
	s.count = s.groups.GroupCount()
	if s.kept != nil {
		s.count = int64(len(s.kept))
	}
	if s.most <= s.length || s.length == 0 {
		s.length, s.pieces = 0, s.count
		return s, nil
	}
	s.ends = make([]int64, s.count)
	s.setEnds() // by time; the sum is that of every epoch
	s.pieces = s.ends[s.count-1]
	return s, nil
}

// setEnds sets ends for the current permutation. Before the first epoch it is the identity.
func (s *crossSection) setEnds() {
	sum := int64(0)
	for i := range s.ends {
		sum += (int64(len(s.group(int64(i))))-1)/s.length + 1
		s.ends[i] = sum
	}
}

// group returns the windows of the i-th group of the epoch.
func (s *crossSection) group(i int64) []uint32 {
	if s.permutation.n > 0 {
		i = int64(s.permutation.at(uint64(i)))
	}
	if s.kept != nil {
		i = int64(s.kept[i])
	}
	return s.groups.Group(i)
}

func (s *crossSection) minEntries() int64 { return s.pieces }

func (s *crossSection) begin(epoch uint64) int64 {
	if s.shuffled {
		s.permutation = newPermutation(epochKey(s.seed, epoch, forGroups), uint64(s.count))
		s.setEnds()
	}
	return s.pieces
}

// piece returns the windows of an entry.
func (s *crossSection) piece(entry int64) []uint32 {
	if s.length == 0 {
		return s.group(entry)
	}
	i := firstAbove(s.ends, entry)
	if i > 0 {
		entry -= s.ends[i-1]
	}
	windows := s.group(int64(i))[entry*s.length:]
	return windows[:min(s.length, int64(len(windows)))]
}

func (s *crossSection) append(dst []int64, first, count int64) []int64 {
	for entry := first; entry < first+count; entry++ {
		windows := s.piece(entry)
		dst = slices.Grow(dst, len(windows))
		for _, w := range windows {
			dst = append(dst, int64(w))
		}
	}
	return dst
}

func (s *crossSection) size(entry int64) int64 { return int64(len(s.piece(entry))) }

func (s *crossSection) largest() int64 {
	if s.length == 0 {
		return s.most
	}
	return s.length
}

// uneven yields the last piece of each group.
func (s *crossSection) uneven() iter.Seq2[int64, int64] {
	return func(yield func(entry, size int64) bool) {
		for i := range s.count {
			last := i
			if s.ends != nil {
				last = s.ends[i] - 1
			}
			if !yield(last, int64(len(s.piece(last)))) {
				return
			}
		}
	}
}
