package window

// shape is a spec in the units of the arithmetic: samples, or rows from the start of a window.
type shape struct {
	context, target, total int64 // samples: C, C+G−L, T = C+G+P
	stride, dilation       int64
	last                   int64 // offset of the last row: (T−1)·D
	partRow                int64 // offset of the first prediction row, which decides the part
	pad                    int64 // rows that a window may start before the first admitted row
	fromEnd                bool
}

func newShape(s Spec) shape {
	d := s.dilation()
	sh := shape{
		context:  s.ContextLength,
		target:   s.ContextLength + s.Gap - s.Overlap,
		total:    s.ContextLength + s.Gap + s.PredictionLength,
		stride:   s.stride(),
		dilation: d,
		partRow:  (s.ContextLength + s.Gap) * d,
		fromEnd:  s.Anchor == AnchorEnd,
	}
	sh.last = (sh.total - 1) * d
	if s.PredictionLength == 0 {
		sh.partRow = sh.last
	}
	if s.MinContext != nil {
		sh.pad = min((s.ContextLength-*s.MinContext)*d, sh.last)
	}
	return sh
}

// padded returns the number of samples of a window that are before row first.
func (sh *shape) padded(start, first int64) int64 {
	if start >= first {
		return 0
	}
	return (first-start-1)/sh.dilation + 1
}

// samples returns the samples of a window that use a column, as half-open ranges. The second range
// may be empty. used is false if no sample uses the column.
func (sh *shape) samples(c Column) (s [2][2]int64, used bool) {
	context, target := [2]int64{0, sh.context}, [2]int64{sh.target, sh.total}
	switch {
	case c.Context && c.Target && sh.target <= sh.context:
		s[0] = [2]int64{0, sh.total}
	case c.Context && c.Target:
		s = [2][2]int64{context, target}
	case c.Context:
		s[0] = context
	case c.Target:
		s[0] = target
	}
	return s, s[0][0] < s[0][1]
}

// positions are the positions of one item. Position k starts at row first + k·stride, for k in
// [0, count).
type positions struct {
	n, a, b int64 // the item has n rows; those in [a, b) are admitted
	pad     int64 // rows that a window may start before row a
	first   int64
	count   int64
	stride  int64
}

// positions returns the positions of an item of n rows, of which [a, b) are admitted.
func (sh *shape) positions(n, a, b int64) positions {
	p := positions{n: n, a: a, b: b, pad: sh.pad, stride: sh.stride}
	if n == 0 {
		return p
	}
	if a >= b {
		p.pad = 0
	}
	phase, from, to := a, min(0, a-p.pad), n
	if sh.fromEnd {
		phase, from, to = b-1-sh.last, -sh.last, n-sh.last
	}
	if p.first = from; sh.stride > 1 {
		p.first = phase - floorDiv(phase-from, sh.stride)*sh.stride
	}
	if p.first < to {
		p.count = to - p.first
		if sh.stride > 1 {
			p.count = (p.count-1)/sh.stride + 1
		}
	}
	return p
}

// before returns the number of positions that start before a row.
func (p *positions) before(row int64) int64 {
	if row <= p.first {
		return 0
	}
	if p.stride == 1 {
		return min(row-p.first, p.count)
	}
	return min((row-p.first-1)/p.stride+1, p.count)
}

// start returns the row at which position k starts.
func (p *positions) start(k int64) int64 { return p.first + k*p.stride }
