package window

import "sort"

// addStreams adds the edges that a column's missing rows make on one line of starts.
func (m *missing) addStreams(col int, rows []MissingRow, origin int64) {
	if len(rows) == 0 {
		return
	}
	for _, s := range m.columns[col].samples {
		if s[0] < s[1] {
			m.streams = append(m.streams,
				stream{rows, origin, 1 - s[1], 1},
				stream{rows, origin, 1 - s[0], -1})
		}
	}
}

// next is the q of the stream's next edge.
func (s *stream) next(dilation int64) int64 {
	return (s.rows[0].Row-s.origin)/dilation + s.shift
}

// sweep follows the number of missing cells along one line of starts and appends the stretches
// where it is too large.
func (m *missing) sweep(p *series, residue int64) {
	d := m.base.shape.dilation
	h := m.streams
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i, d)
	}
	count, from := int64(0), int64(0)
	for len(h) > 0 {
		q := h[0].next(d)
		if count > 0 && from < q {
			m.addBad(p, residue, from, q, count)
		}
		from = q
		for len(h) > 0 && h[0].next(d) == q {
			s := &h[0]
			count += s.sign * s.rows[0].Cells
			if s.rows = s.rows[1:]; len(s.rows) == 0 {
				h[0] = h[len(h)-1]
				h = h[:len(h)-1]
			}
			sink(h, 0, d)
		}
	}
}

// sink restores the heap of streams below i.
func sink(h []stream, i int, d int64) {
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

// addBad appends what of the stretch [from, to) has too many missing cells, given that each of its
// windows has count. Padded windows have fewer cells, so they come first.
func (m *missing) addBad(p *series, residue, from, to, count int64) {
	d := m.base.shape.dilation
	real := max(from, min(to, -floorDiv(residue-p.a, d))) // the first q at or after row a
	end := to
	if !m.tooMany(count, 0) {
		end = real
	}
	if end == real && from < real { // fewer padded rows, more cells: a prefix is bad
		end = from + int64(sort.Search(int(real-from), func(i int) bool {
			return !m.tooMany(count, -floorDiv(residue-p.a, d)-from-int64(i))
		}))
	}
	if from >= end {
		return
	}
	s := stretch{residue + from*d, residue + (end-1)*d}
	if n := len(m.bad); n > 0 && m.bad[n-1].last+d == s.first {
		m.bad[n-1].last = s.last
		return
	}
	m.bad = append(m.bad, s)
}

// tooMany says whether so many missing cells are too many for a window with padded rows.
func (m *missing) tooMany(count, padded int64) bool {
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

// cellsOf is the number of cells of a window with so many padded rows.
func (m *missing) cellsOf(padded int64) float64 {
	cells := 0.0
	for i := range m.columns {
		for _, s := range m.columns[i].samples {
			cells += m.columns[i].cells * float64(max(0, s[1]-max(s[0], padded)))
		}
	}
	return cells
}
