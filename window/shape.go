package window

// shape is a spec as the arithmetic needs it, in raw rows counted from a window's start.
type shape struct {
	context, target, total int64 // samples: C, C+G−L, T = C+G+P
	stride, dilation       int64
	last                   int64 // to the last row: (T−1)·D
	placed                 int64 // to the row that says which part: the first prediction row
	pad                    int64 // rows a window may start before the first row
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
		placed:   (s.ContextLength + s.Gap) * d,
		fromEnd:  s.Anchor == AnchorEnd,
	}
	sh.last = (sh.total - 1) * d
	if s.PredictionLength == 0 {
		sh.placed = sh.last
	}
	if s.MinContext != nil {
		sh.pad = min((s.ContextLength-*s.MinContext)*d, sh.last)
	}
	return sh
}

// padded is the number of samples of a window that lie before row first.
func (sh *shape) padded(start, first int64) int64 {
	if start >= first {
		return 0
	}
	return (first-start-1)/sh.dilation + 1
}

// series are the positions of one item: start + k·stride for k in [0, count).
type series struct {
	n, a, b int64 // rows of the item; [a, b) are admitted
	pad     int64
	start   int64
	count   int64
	stride  int64
}

func (sh *shape) series(n, a, b int64) series {
	p := series{n: n, a: a, b: b, pad: sh.pad, stride: sh.stride}
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
	if p.start = from; sh.stride > 1 {
		p.start = phase - floorDiv(phase-from, sh.stride)*sh.stride
	}
	if p.start < to {
		p.count = to - p.start
		if sh.stride > 1 {
			p.count = (p.count-1)/sh.stride + 1
		}
	}
	return p
}

// below is the number of positions that start before row s.
func (p *series) below(s int64) int64 {
	if s <= p.start {
		return 0
	}
	if p.stride == 1 {
		return min(s-p.start, p.count)
	}
	return min((s-p.start-1)/p.stride+1, p.count)
}

func (p *series) at(k int64) int64 { return p.start + k*p.stride }
