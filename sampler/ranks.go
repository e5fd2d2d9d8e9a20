package sampler

// RankShare is what one rank gets of an epoch.
type RankShare struct{ Batches, Windows int64 }

// Ranks are the shares of an epoch's first ranks, of all or the first most. What it takes grows with the runs and the ranks, not with the
// windows.
func (s *Sampler) Ranks(epoch uint64, most int64) []RankShare {
	shares := make([]RankShare, min(most, s.options.NumReplicas))
	s.positions(epoch) // drawn once for all
	for rank := range shares {
		one, share := *s, &shares[rank]
		one.options.Rank = int64(rank)
		if share.Batches = one.Steps(epoch, 0); share.Batches > 0 {
			share.Windows = (share.Batches-1)*s.options.BatchSize + one.LastBatch(epoch)
		}
	}
	if s.options.Order == RandomStart {
		s.shortBlocks(func(position, missing int64) {
			rank, step := position%s.options.NumReplicas, position/s.options.NumReplicas
			if rank < int64(len(shares)) && step < shares[rank].Batches-1 { // the last was counted as it is
				shares[rank].Windows -= missing
			}
		})
	}
	return shares
}

// LastBatch is the number of windows of this rank's last batch of an epoch, however many they are; 0 where it has none.
func (s *Sampler) LastBatch(epoch uint64) int64 {
	first, count, _, err := s.share(epoch, max(0, s.Steps(epoch, 0)-1)*s.step)
	if err != nil {
		return 0
	}
	if s.options.Order == RandomStart && count > 0 {
		_, count = s.block(first % s.positions(epoch)) // a position is a block, and a batch one of them
	}
	return count
}

// shortBlocks are those of fewer windows than a batch: where they are served, and how many they lack. Only the first and the last of a
// run can be.
func (s *Sampler) shortBlocks(tell func(position, missing int64)) {
	e, size := &s.epoch, s.options.BatchSize
	lacks := func(block, windows int64) {
		if windows < size {
			tell(int64(e.permutation.position(uint64(block))), size-windows)
		}
	}
	from := int64(0)
	for j, end := range e.blocks {
		_, _, windows := s.windows.RunAt(j)
		head := s.head(j)
		lacks(from, min(head, windows))
		if end-from > 1 {
			lacks(end-1, windows-head-(end-from-2)*size)
		}
		from = end
	}
}
