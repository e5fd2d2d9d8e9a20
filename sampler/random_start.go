package sampler

// drawBlocks cuts each run into blocks with a phase of its own.
func (s *Sampler) drawBlocks(epoch uint64) {
	e := &s.epoch
	e.phases = epochKey(s.options.Seed, epoch, forPhases)
	if e.blocks == nil {
		e.blocks = make([]int64, s.windows.RunCount())
	}
	sum, size := int64(0), s.options.BatchSize
	for j := range e.blocks {
		_, _, count := s.windows.RunAt(j)
		if head := s.head(j); count > head {
			sum += (count - head + size - 1) / size
		}
		sum++
		e.blocks[j] = sum
	}
	e.permutation = newPermutation(epochKey(s.options.Seed, epoch, forBlocks), uint64(sum))
}

// head is the length of a run's first block, from 1 to the batch size.
func (s *Sampler) head(run int) int64 {
	size := s.options.BatchSize
	if head := int64(below(draw(s.epoch.phases, uint64(run)), uint64(size))); head > 0 {
		return head
	}
	return size
}

// block are the windows of the block at position p.
func (s *Sampler) block(p int64) (first, count int64) {
	e, size := &s.epoch, s.options.BatchSize
	k := int64(e.permutation.at(uint64(p)))
	j := firstAbove(e.blocks, k)
	if j > 0 {
		k -= e.blocks[j-1]
	}
	_, number, windows := s.windows.RunAt(j)
	head := s.head(j)
	if k == 0 {
		return number, min(head, windows)
	}
	from := head + (k-1)*size
	return number + from, min(size, windows-from)
}
