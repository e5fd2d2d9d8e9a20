package sampler

import "fmt"

// prepareWeights sums the weights of the items that have windows.
func (s *Sampler) prepareWeights() error {
	e := &s.epoch
	e.sums = make([]float64, len(e.items))
	sum := 0.0
	for i, it := range e.items {
		if it.item >= int64(len(s.options.Weights)) {
			return &OptionError{"weights", fmt.Sprintf("%d weights", len(s.options.Weights)), fmt.Sprintf("one for each item, at least %d", e.items[len(e.items)-1].item+1)}
		}
		sum += s.options.Weights[it.item]
		e.sums[i] = sum
	}
	if !(sum > 0) || sum-sum != 0 {
		return &OptionError{"weights", fmt.Sprintf("a sum of %v", sum), "a finite sum above 0 over the items that have windows"}
	}
	return nil
}

// drawn is the window drawn at position p.
func (s *Sampler) drawn(p uint64) int64 {
	e := &s.epoch
	if e.sums == nil {
		return int64(below(draw(e.key, p), uint64(s.n)))
	}
	share := float64(draw(e.key, 2*p)>>11) * 0x1p-53
	it := e.items[firstAbove(e.sums, share*e.sums[len(e.sums)-1])]
	return it.first + int64(below(draw(e.key, 2*p+1), uint64(it.count)))
}
