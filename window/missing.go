package window

import (
	"cmp"
	"slices"
)

// missingScan finds the windows with too many missing cells. It reads the missing rows of one item
// after the other, so callers ask for items in ascending order.
//
// A missing row r counts in the windows that sample it: those that start at s = r − i·D for a
// sample i that uses the column. Starts with the same residue modulo D therefore form a class of
// their own, with q = (s − residue)/D. In a class each missing row adds its cells over one or two
// ranges of q. The scan follows the sum from one end of a range to the next.
type missingScan struct {
	base    *base
	columns []scanColumn
	cells   float64 // cells of a window without padding
	edges   []edgeStream
	excess  []startRange // of one item: starts of windows with too many missing cells
	groups  []residueRows
}

// scanColumn is a column that windows use.
type scanColumn struct {
	cells   float64      // per row
	samples [2][2]int64  // half-open ranges of i; the second may be empty
	rest    []MissingRow // from the current item on
	sorted  []MissingRow // of the current item, by residue
}

// edgeStream yields the q at which one range of samples begins or ceases to sample missing rows, in
// ascending order.
type edgeStream struct {
	rows   []MissingRow
	origin int64 // dataset row of q = 0
	shift  int64 // from the q of a row to the q of its edge
	sign   int64 // 1: the window begins to sample the row; −1: it ceases to
}

// startRange contains the starts from first to last that have the same residue modulo D as first.
type startRange struct{ first, last int64 }

// residueRows are the missing rows of one column with one residue modulo D.
type residueRows struct {
	residue int64
	column  int
	rows    []MissingRow
}

// hasMissing reports whether missing cells can reject a window.
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

func newMissingScan(b *base) *missingScan {
	m := &missingScan{base: b}
	sh := &b.shape
	for _, c := range b.table.Columns {
		if s, used := sh.samples(c); used {
			m.columns = append(m.columns,
				scanColumn{cells: float64(c.Cells), samples: s, rest: c.Missing})
		}
	}
	m.cells = m.cellsOf(0)
	return m
}

// hasRows reports whether an item has missing rows. It skips those of items before it.
func (m *missingScan) hasRows(item int64) bool {
	from, to := m.base.table.Offsets[item], m.base.table.Offsets[item+1]
	found := false
	for i := range m.columns {
		c := &m.columns[i]
		c.rest = c.rest[firstMissing(c.rest, from):]
		found = found || len(c.rest) > 0 && c.rest[0].Row < to
	}
	return found
}

// nextItem returns the first item at or after this one that has missing rows, or the number of
// items if there is none.
func (m *missingScan) nextItem(item int64) int64 {
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
	for step := int64(1); offsets[item+1] <= next; step *= 2 { // galloping search
		if item+step >= m.base.table.Items() || offsets[item+step] > next {
			step = 1
		}
		item += step
	}
	return item
}

// firstMissing returns the index of the first missing row at or after row. It searches from the
// front in steps that double, because the result is usually near.
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

// rejections appends the positions of an item with too many missing cells.
func (m *missingScan) rejections(dst []rejection, item int64, p *positions) []rejection {
	if p.a >= p.b || !m.hasRows(item) {
		return dst
	}
	m.excess = m.excess[:0]
	offset := m.base.table.Offsets[item]
	if m.base.shape.dilation == 1 {
		m.edges = m.edges[:0]
		for i := range m.columns {
			rows := rowsBetween(m.columns[i].rest, offset+p.a, offset+p.b)
			m.addEdges(i, rows, offset)
		}
		m.sweep(p, 0)
		for _, s := range m.excess {
			r := rejection{item, p.before(s.first), p.before(s.last + 1), byMaxMissing}
			dst = appendRejection(dst, r)
		}
		return dst
	}
	m.sweepResidues(p, offset)
	return m.rejectCovered(dst, item, p)
}

// rowsBetween returns the missing rows in [from, to).
func rowsBetween(rows []MissingRow, from, to int64) []MissingRow {
	rows = rows[firstMissing(rows, from):]
	return rows[:firstMissing(rows, to)]
}

// sweepResidues sweeps the starts of each residue modulo the dilation.
func (m *missingScan) sweepResidues(p *positions, offset int64) {
	d := m.base.shape.dilation
	m.groups = m.groups[:0]
	for i := range m.columns {
		c := &m.columns[i]
		c.sorted = append(c.sorted[:0], rowsBetween(c.rest, offset+p.a, offset+p.b)...)
		slices.SortFunc(c.sorted, func(a, b MissingRow) int {
			return cmp.Or(cmp.Compare((a.Row-offset)%d, (b.Row-offset)%d),
				cmp.Compare(a.Row, b.Row))
		})
		for rest := c.sorted; len(rest) > 0; {
			residue, n := (rest[0].Row-offset)%d, 1
			for n < len(rest) && (rest[n].Row-offset)%d == residue {
				n++
			}
			m.groups = append(m.groups, residueRows{residue, i, rest[:n]})
			rest = rest[n:]
		}
	}
	slices.SortFunc(m.groups, func(a, b residueRows) int {
		return cmp.Or(cmp.Compare(a.residue, b.residue), cmp.Compare(a.column, b.column))
	})
	for i := 0; i < len(m.groups); {
		residue := m.groups[i].residue
		m.edges = m.edges[:0]
		for ; i < len(m.groups) && m.groups[i].residue == residue; i++ {
			m.addEdges(m.groups[i].column, m.groups[i].rows, offset+residue)
		}
		m.sweep(p, residue)
	}
}

// rejectCovered appends the positions that start in a range of m.excess. It skips positions that
// the item's bounds and end reject: there may be very many of them if the context is padded and
// longer than the item.
func (m *missingScan) rejectCovered(dst []rejection, item int64, p *positions) []rejection {
	d := m.base.shape.dilation
	slices.SortFunc(m.excess, func(a, b startRange) int { return cmp.Compare(a.first, b.first) })
	covered := make(map[int64]int64) // residue → last start of its range
	k, to := p.before(p.a-p.pad), p.before(p.b-m.base.shape.last)
	next, end := 0, int64(0)
	for k < to {
		s := p.start(k)
		if len(covered) == 0 || s > end {
			if next == len(m.excess) {
				break
			}
			if k = max(k, p.before(m.excess[next].first)); k >= to {
				break
			}
			s = p.start(k)
		}
		for ; next < len(m.excess) && m.excess[next].first <= s; next++ {
			residue := m.excess[next].first - floorDiv(m.excess[next].first, d)*d
			covered[residue] = m.excess[next].last
			end = max(end, m.excess[next].last)
		}
		if last, ok := covered[s-floorDiv(s, d)*d]; ok && s <= last {
			dst = appendRejection(dst, rejection{item, k, k + 1, byMaxMissing})
		}
		k++
	}
	return dst
}
