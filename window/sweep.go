package window

import "sort"

// addEdges adds the edges that missing rows of a column cause in one residue class of starts.
func (m *missingScan) addEdges(col int, rows []MissingRow, origin int64) {
	if len(rows) == 0 {
		return
	}
	for _, s := range m.columns[col].samples {
		if s[0] < s[1] {
			m.edges = append(m.edges,
				edgeStream{rows, origin, 1 - s[1], 1},
				edgeStream{rows, origin, 1 - s[0], -1})
		}
	}
}

// next returns the q of the stream's next edge.
func (s *edgeStream) next(dilation int64) int64 {
	return (s.rows[0].Row-s.origin)/dilation + s.shift
}

// sweep follows the number of missing cells along one class of starts, and appends the ranges of
// starts at which it is too large. m.edges becomes a heap by next.
func (m *missingScan) sweep(p *positions, residue int64) {
	d := m.base.shape.dilation
	h := m.edges
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDown(h, i, d)
	}
	count, from := int64(0), int64(0)
	for len(h) > 0 {
		q := h[0].next(d)
		if count > 0 && from < q {
			m.addExcess(p, residue, from, q, count)
		}
		from = q
		for len(h) > 0 && h[0].next(d) == q {
			s := &h[0]
			count += s.sign * s.rows[0].Cells
			if s.rows = s.rows[1:]; len(s.rows) == 0 {
				h[0] = h[len(h)-1]
				h = h[:len(h)-1]
			}
			siftDown(h, 0, d)
		}
	}
}

// siftDown restores the order of the heap below i.
func siftDown(h []edgeStream, i int, d int64) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].next(d) < h[least].next(d) {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// addExcess appends the starts in [from, to) of one line that have too many missing cells. Each of
// the windows has count missing cells. Padded windows have fewer cells, so they exceed max_missing
// first.
func (m *missingScan) addExcess(p *positions, residue, from, to, count int64) {
	d := m.base.shape.dilation
	unpadded := max(from, min(to, -floorDiv(residue-p.a, d))) // first q at or after row a
	end := to
	if !m.exceeds(count, 0) {
		end = unpadded
	}
	if end == unpadded && from < unpadded { // cells grow with each start
		end = from + int64(sort.Search(int(unpadded-from), func(i int) bool {
			return !m.exceeds(count, -floorDiv(residue-p.a, d)-from-int64(i))
		}))
	}
	if from >= end {
		return
	}
	s := startRange{residue + from*d, residue + (end-1)*d}
	if n := len(m.excess); n > 0 && m.excess[n-1].last+d == s.first {
		m.excess[n-1].last = s.last
		return
	}
	m.excess = append(m.excess, s)
}

// exceeds reports whether count missing cells are too many for a window with padded samples.
func (m *missingScan) exceeds(count, padded int64) bool {
	share := m.base.spec.MaxMissing.Share
	if share == 0 {
		return count > 0
	}
	cells := m.cells
	if padded > 0 {
		cells = m.cellsOf(padded)
	}
	return float64(count)/cells > share
}

// cellsOf returns the number of cells of a window with padded samples.
func (m *missingScan) cellsOf(padded int64) float64 {
	cells := 0.0
	for i := range m.columns {
		for _, s := range m.columns[i].samples {
			cells += m.columns[i].cells * float64(max(0, s[1]-max(s[0], padded)))
		}
	}
	return cells
}
