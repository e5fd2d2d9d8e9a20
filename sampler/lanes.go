package sampler

// drawLanes puts the items in the epoch's order.
func (s *Sampler) drawLanes(epoch uint64) {
	e := &s.epoch
	order := newPermutation(epochKey(s.options.Seed, epoch, forItems), uint64(len(e.items)))
	e.rotation = int64(below(epochKey(s.options.Seed, epoch, forRotation), uint64(s.n)))
	if e.ends == nil {
		e.ends, e.order = make([]int64, len(e.items)), make([]int, len(e.items))
	}
	for i := range e.order { // apart from what follows, whose reads from all over then overlap
		e.order[i] = int(order.at(uint64(i)))
	}
	sum := int64(0)
	for i, at := range e.order {
		sum += e.items[at].count
		e.ends[i] = sum
	}
}

// lane is the window at position p.
func (s *Sampler) lane(p int64) int64 {
	e := &s.epoch
	if length := s.n / s.step; p < length*s.step {
		p = p%s.step*length + p/s.step
	}
	if p += e.rotation; p >= s.n {
		p -= s.n
	}
	i := firstAbove(e.ends, p)
	it := e.items[e.order[i]]
	return it.first + it.count - (e.ends[i] - p)
}

// resets says whether a window does not continue the one at position before.
func (s *Sampler) resets(window, before int64) bool {
	return before < 0 || s.lane(before)+1 != window || !s.windows.Continues(window)
}
