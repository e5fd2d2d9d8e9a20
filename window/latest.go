package window

import "fmt"

// buildLatest finds the one window of each item: its positions are the items of the part.
func (x *Index) buildLatest() error {
	b := x.base
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
	if err := context.findBlocks(); err != nil {
		return err
	}
	blocks := context.blocks
	ends := newTargetEnds(&b.table)
	named, items := x.candidates()
	x.runs = make([]Run, 0, x.expected(items))
	for i := range items {
		item := i
		if named != nil {
			item = named[i]
		}
		e := x.extent(item)
		if e.absent {
			continue
		}
		end := ends.before(item, e.hi)
		if end <= e.lo {
			continue
		}
		for len(blocks) > 0 && blocks[0].item < item {
			blocks = blocks[1:]
		}
		a, to := e.a, e.b
		start := end - 1 - sh.last
		p := sh.series(b.table.length(item), a, to)
		k := p.below(start)
		reason := bySplit
		switch {
		case start < a-p.pad && a > 0:
			reason = byBounds
		case start < a-p.pad:
			reason = byItemEnd
		default:
			reason = blockedBy(blocks, item, k)
			if reason < 0 && e.context > a && start < e.context {
				reason = bySplit
			}
		}
		if reason >= 0 {
			x.rejected[reason]++
			continue
		}
		if last := start + b.shape.last; len(b.spec.KnownColumns) > 0 && last >= to {
			return &SpecError{"known_columns", fmt.Sprintf("%s ends at row %d", b.table.name(item), to), fmt.Sprintf("rows up to %d: latest delivers the known columns of the prediction rows", last+1)}
		}
		x.runs = append(x.runs, Run{item, start, 1})
	}
	x.count()
	return nil
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
		for j := s.skip[i] - 1; j >= 0 && row > 0 && c.Missing[j] == (MissingRow{offset + row - 1, c.Cells}); j-- {
			row--
		}
		last = max(last, row)
	}
	return last
}
