package sampler

// RankShare is the number of batches and windows of one rank in an epoch.
type RankShare struct{ Batches, Windows int64 }

// Ranks returns the shares of the first ranks of an epoch, at most limit of them. Its cost depends
// on the number of runs, groups and ranks, and not on the number of windows.
func (s *Sampler) Ranks(epoch uint64, limit int64) []RankShare {
	shares := make([]RankShare, min(limit, s.options.NumReplicas))
	s.drawEpoch(epoch) // once: the copies below share the order
	size := s.options.BatchSize.count()
	for rank := range shares {
		one, share := *s, &shares[rank]
		one.options.Rank = int64(rank)
		if share.Batches = one.Steps(epoch, 0); share.Batches > 0 {
			share.Windows = (share.Batches-1)*size + one.LastBatch(epoch)
		}
	}
	if s.blocks == nil {
		return shares
	}
	for entry, windows := range s.blocks.uneven() {
		rank, step := entry%s.options.NumReplicas, entry/s.options.NumReplicas
		// LastBatch has counted the last batch.
		if rank < int64(len(shares)) && step < shares[rank].Batches-1 {
			shares[rank].Windows += windows - size
		}
	}
	return shares
}

// LastBatch returns the number of windows of this rank's last batch of an epoch, or 0 if it has no
// batch.
func (s *Sampler) LastBatch(epoch uint64) int64 {
	first, count, _, err := s.share(epoch, max(0, s.Steps(epoch, 0)-1)*s.step)
	if err != nil {
		return 0
	}
	if s.blocks != nil && count > 0 { // count is one block
		return s.blocks.size(first % s.drawEpoch(epoch))
	}
	return count
}
