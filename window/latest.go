package window

import "fmt"

// contextAlone is the base of windows that have no more than the context.
func (b *base) contextAlone() (*base, error) {
	sh := b.shape
	sh.total, sh.target, sh.stride, sh.fromEnd = sh.context, sh.context, 1, false
	sh.last = (sh.context - 1) * sh.dilation
	sh.pad = min(sh.pad, sh.last)
	context := &base{spec: b.spec, shape: sh, table: b.table, time: b.time, maxStep: b.maxStep}
	context.table.Columns = nil
	for _, c := range b.table.Columns {
		if c.Context {
			c.Target = false
			context.table.Columns = append(context.table.Columns, c)
		}
	}
	return context, context.findBlocks()
}

// buildLatest finds the one window of each item: its positions are the items of the part.
func (x *Index) buildLatest() (err error) {
	b := x.base
	if x.context, err = b.contextAlone(); err != nil {
		return err
	}
	blocks := x.context.blocks
	ends := newTargetEnds(&b.table)
	named, items := x.candidates()
	x.runs.list = make([]Run, 0, x.expected(items))
	for i := range items {
		item := i
		if named != nil {
			item = named[i]
		}
		e := x.extent(item)
		if e.absent {
			continue
		}
		for len(blocks) > 0 && blocks[0].item < item {
			blocks = blocks[1:]
		}
		start, reason, ok := x.latestOf(item, e, ends, blocks)
		if !ok {
			continue
		}
		if reason >= 0 {
			x.rejected[reason]++
			continue
		}
		if last := start + b.shape.last; len(b.spec.KnownColumns) > 0 && last >= e.b {
			return &SpecError{"known_columns", fmt.Sprintf("%s ends at row %d", b.table.name(item),
				e.b), fmt.Sprintf(
				"rows up to %d: latest delivers the known columns of the prediction rows", last+1)}
		}
		x.runs.list = append(x.runs.list, Run{item, start, 1})
	}
	x.runs = newRunList(x.runs.list, b.shape.stride)
	return nil
}

// latestOf is the one position of an item and the reason that forbids it, −1 for none; false where
// it has none. Of blocks none is of an item before.
func (x *Index) latestOf(item int64, e extent, ends *targetEnds, blocks []block) (start int64,
	reason int, ok bool) {
	end := ends.before(item, e.hi)
	if end <= e.lo {
		return 0, 0, false
	}
	sh := &x.context.shape
	start = end - 1 - sh.last
	p := sh.series(x.base.table.length(item), e.a, e.b)
	switch {
	case start < e.a-p.pad && e.a > 0:
		return start, byBounds, true
	case start < e.a-p.pad:
		return start, byItemEnd, true
	}
	reason = blockedBy(blocks, item, p.below(start))
	if reason < 0 && e.context > e.a && start < e.context {
		reason = bySplit
	}
	return start, reason, true
}

// blockedBy is the reason that forbids position k, −1 for none.
func blockedBy(blocks []block, item, k int64) int {
	for _, bl := range blocks {
		if bl.item != item || bl.from > k {
			break
		}
		if k < bl.to {
			return bl.reason
		}
	}
	return -1
}

// targetEnds finds the last rows with a value in some target column.
type targetEnds struct {
	table   *Table
	targets []Column
	skip    []int // missing rows of items already passed
}

func newTargetEnds(t *Table) *targetEnds {
	s := &targetEnds{table: t}
	for _, c := range t.Columns {
		if c.Target {
			s.targets = append(s.targets, c)
		}
	}
	s.skip = make([]int, len(s.targets))
	return s
}

// before is one past the item's last row before row end with a value in some target column.
func (s *targetEnds) before(item, end int64) int64 {
	if len(s.targets) == 0 {
		return end
	}
	offset, last := s.table.Offsets[item], int64(0)
	for i, c := range s.targets {
		s.skip[i] += firstMissing(c.Missing[s.skip[i]:], offset+end)
		row := end
		for j := s.skip[i] - 1; j >= 0 && row > 0 &&
			c.Missing[j] == (MissingRow{offset + row - 1, c.Cells}); j-- {
			row--
		}
		last = max(last, row)
	}
	return last
}
