package window

import (
	"cmp"
	"slices"
)

// missing finds the windows with too many missing cells. It walks the missing rows of one item
// after the other, so items are asked in ascending order.
//
// A missing row r counts in the windows that sample it: those with start s = r − i·D for a sample i
// the column uses. Starts of one residue modulo D are therefore a line of their own, q = (s −
// residue)/D, on which each missing row adds its cells over one or two stretches; the sum is
// followed from edge to edge.
type missing struct {
	base    *base
	columns []column
	cells   float64 // of a window without padding
	streams []stream
	bad     []stretch
	groups  []group
}

// column is a column's samples and the missing rows not yet passed.
type column struct {
	cells   float64
	samples [2][2]int64 // half-open ranges of i; the second may be empty
	rest    []MissingRow
	sorted  []MissingRow // of one item, by residue
}

// stream yields the edges of one range of samples in ascending order of q.
type stream struct {
	rows   []MissingRow
	origin int64 // the dataset row of q = 0
	shift  int64
	sign   int64
}

// stretch are the starts from first to last that are first modulo D.
type stretch struct{ first, last int64 }

// group are the missing rows of one column with one residue.
type group struct {
	residue int64
	column  int
	rows    []MissingRow
}

func (b *base) hasMissing() bool {
	if b.spec.MaxMissing.Any || b.spec.MaxMissing.Share == 1 {
		return false
	}
	for _, c := range b.table.Columns {
		if (c.Context || c.Target) && len(c.Missing) > 0 {
			return true
		}
	}
	return false
}

func newMissing(b *base) *missing {
	m := &missing{base: b}
	sh := &b.shape
	for _, c := range b.table.Columns {
		if s, used := sh.samples(c); used {
			m.columns = append(m.columns,
				column{cells: float64(c.Cells), samples: s, rest: c.Missing})
		}
	}
	m.cells = m.cellsOf(0)
	return m
}

// samples are the samples of a window that a column gives cells to.
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

// touches says whether an item has missing rows, and passes those of items before it.
func (m *missing) touches(item int64) bool {
	from, to := m.base.table.Offsets[item], m.base.table.Offsets[item+1]
	found := false
	for i := range m.columns {
		c := &m.columns[i]
		c.rest = c.rest[firstMissing(c.rest, from):]
		found = found || len(c.rest) > 0 && c.rest[0].Row < to
	}
	return found
}

// nextItem is the first item at or after this one with missing rows; the number of items when there
// is none.
func (m *missing) nextItem(item int64) int64 {
	offsets := m.base.table.Offsets
	next := int64(-1)
	for i := range m.columns {
		c := &m.columns[i]
		c.rest = c.rest[firstMissing(c.rest, offsets[item]):]
		if len(c.rest) > 0 && (next < 0 || c.rest[0].Row < next) {
			next = c.rest[0].Row
		}
	}
	if next < 0 {
		return m.base.table.Items()
	}
	for step := int64(1); offsets[item+1] <= next; step *= 2 { // gallop, then halve
		if item+step >= m.base.table.Items() || offsets[item+step] > next {
			step = 1
		}
		item += step
	}
	return item
}

// firstMissing is the first of the rows at or after row, found from the front.
func firstMissing(rows []MissingRow, row int64) int {
	step := 1
	for step < len(rows) && rows[step].Row < row {
		step *= 2
	}
	part := rows[step/2 : min(step+1, len(rows))]
	i, _ := slices.BinarySearchFunc(part, row,
		func(m MissingRow, row int64) int { return cmp.Compare(m.Row, row) })
	return step/2 + i
}

// blocks are the positions of an item with too many missing cells.
func (m *missing) blocks(dst []block, item int64, p *series) []block {
	if p.a >= p.b || !m.touches(item) {
		return dst
	}
	m.bad = m.bad[:0]
	offset := m.base.table.Offsets[item]
	if m.base.shape.dilation == 1 {
		m.streams = m.streams[:0]
		for i := range m.columns {
			rows := between(m.columns[i].rest, offset+p.a, offset+p.b)
			m.addStreams(i, rows, offset)
		}
		m.sweep(p, 0)
		for _, s := range m.bad {
			dst = addBlock(dst, block{item, p.below(s.first), p.below(s.last + 1), byMaxMissing})
		}
		return dst
	}
	m.byResidue(p, offset)
	return m.walk(dst, item, p)
}

func between(rows []MissingRow, from, to int64) []MissingRow {
	rows = rows[firstMissing(rows, from):]
	return rows[:firstMissing(rows, to)]
}

// byResidue sweeps each residue modulo the dilation.
func (m *missing) byResidue(p *series, offset int64) {
	d := m.base.shape.dilation
	m.groups = m.groups[:0]
	for i := range m.columns {
		c := &m.columns[i]
		c.sorted = append(c.sorted[:0], between(c.rest, offset+p.a, offset+p.b)...)
		slices.SortFunc(c.sorted, func(a, b MissingRow) int {
			return cmp.Or(cmp.Compare((a.Row-offset)%d, (b.Row-offset)%d),
				cmp.Compare(a.Row, b.Row))
		})
		for rest := c.sorted; len(rest) > 0; {
			residue, n := (rest[0].Row-offset)%d, 1
			for n < len(rest) && (rest[n].Row-offset)%d == residue {
				n++
			}
			m.groups = append(m.groups, group{residue, i, rest[:n]})
			rest = rest[n:]
		}
	}
	slices.SortFunc(m.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.residue, b.residue), cmp.Compare(a.column, b.column))
	})
	for i := 0; i < len(m.groups); {
		residue := m.groups[i].residue
		m.streams = m.streams[:0]
		for ; i < len(m.groups) && m.groups[i].residue == residue; i++ {
			m.addStreams(m.groups[i].column, m.groups[i].rows, offset+residue)
		}
		m.sweep(p, residue)
	}
}

// walk asks each position near a missing row whether a stretch of its residue covers it. Those that
// the item's bounds and end reject are left out: a context that is longer than the item, and
// padded, has any number of them.
func (m *missing) walk(dst []block, item int64, p *series) []block {
	d := m.base.shape.dilation
	slices.SortFunc(m.bad, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	covered := make(map[int64]int64) // residue → last start of its stretch
	k, to := p.below(p.a-p.pad), p.below(p.b-m.base.shape.last)
	next, end := 0, int64(0)
	for k < to {
		s := p.at(k)
		if len(covered) == 0 || s > end {
			if next == len(m.bad) {
				break
			}
			if k = max(k, p.below(m.bad[next].first)); k >= to {
				break
			}
			s = p.at(k)
		}
		for ; next < len(m.bad) && m.bad[next].first <= s; next++ {
			residue := m.bad[next].first - floorDiv(m.bad[next].first, d)*d
			covered[residue] = m.bad[next].last
			end = max(end, m.bad[next].last)
		}
		if last, ok := covered[s-floorDiv(s, d)*d]; ok && s <= last {
			dst = addBlock(dst, block{item, k, k + 1, byMaxMissing})
		}
		k++
	}
	return dst
}
