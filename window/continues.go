package window

// Contiguous says whether each window of a run begins where the one before ended its context, as
// order "lanes" needs: stride = context_length · dilation, with no sample between.
func (x *Index) Contiguous() bool {
	sh := &x.part.base.shape
	return sh.stride == sh.context*sh.dilation && !x.part.latest()
}

// Continues says whether the context of window n of a contiguous index goes on where that of window
// n−1 ended: in the same run, with no jump in time on the way. It panics unless 0 ≤ n < Len.
//
// No run is cut at a jump that lies between two windows, since it forbids neither; only a
// context-only window ends before the next one begins.
func (x *Index) Continues(n int64) bool {
	i := x.runs.find(n)
	r, b := &x.runs.list[i], x.part.base
	k := n - x.runs.firstNumber(i)
	if k == 0 {
		return false
	}
	if b.spec.MaxStep == nil || b.shape.last >= b.shape.stride {
		return true
	}
	times, start := b.table.times(r.Item), r.First+k*b.shape.stride
	for row := start - b.shape.dilation + 1; row <= start; row++ {
		if b.isJump(times[row-1], times[row]) {
			return false
		}
	}
	return true
}
