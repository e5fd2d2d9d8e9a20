package window

// block is a stretch of positions [from, to) of an item that one reason forbids.
type block struct {
	item, from, to int64
	reason         int
}

// findBlocks finds what max_step and max_missing forbid: once for an index and all its parts, in
// time of the rows touched and memory of the cuts found.
func (b *base) findBlocks() error {
	steps, missing := b.spec.MaxStep != nil, b.hasMissing()
	if !steps && !missing {
		return nil
	}
	m := newMissing(b)
	var jumps, gaps []block
	for item := int64(0); item < b.table.Items(); item++ {
		if !steps {
			if item = m.nextItem(item); item == b.table.Items() {
				break
			}
		}
		n := b.table.length(item)
		if n < 0 {
			return b.table.descendingOffsets(item)
		}
		from, to := b.admitted(item)
		p := b.shape.series(n, from, to)
		jumps, gaps = jumps[:0], gaps[:0]
		if steps {
			var err error
			if jumps, err = b.jumps(jumps, item, &p); err != nil {
				return err
			}
		}
		if missing {
			gaps = m.blocks(gaps, item, &p)
		}
		b.blocks = mergeBlocks(b.blocks, jumps, gaps)
	}
	return nil
}

// jumps are the positions whose window has two neighbouring rows further apart than max_step.
func (b *base) jumps(dst []block, item int64, p *series) ([]block, error) {
	times, offset := b.table.times(item), b.table.Offsets[item]
	for row := p.a + 1; row < p.b; row++ {
		if b.table.LargestSteps != nil {
			if at := offset + row; b.table.LargestSteps[at/StepRows] <= b.maxStep {
				row = (at/StepRows+1)*StepRows - offset - 1 // the last of its block
				continue
			}
		}
		before, now := times[row-1], times[row]
		if now <= before {
			return nil, descends(item, row, now, before)
		}
		if b.jump(before, now) {
			dst = addBlock(dst, block{item, p.below(row - b.shape.last), p.below(row), byMaxStep})
		}
	}
	return dst, nil
}

// addBlock appends a block that does not begin before the last one; it joins what touches.
func addBlock(dst []block, bl block) []block {
	if bl.from >= bl.to {
		return dst
	}
	if n := len(dst); n > 0 && dst[n-1].item == bl.item && bl.from <= dst[n-1].to {
		dst[n-1].to = max(dst[n-1].to, bl.to)
		return dst
	}
	return append(dst, bl)
}

// mergeBlocks appends the jumps, and the gaps where no jump is, in ascending order.
func mergeBlocks(dst, jumps, gaps []block) []block {
	for _, g := range gaps {
		for len(jumps) > 0 && jumps[0].to <= g.from {
			dst = append(dst, jumps[0])
			jumps = jumps[1:]
		}
		for len(jumps) > 0 && jumps[0].from < g.to {
			if g.from < jumps[0].from {
				dst = append(dst, block{g.item, g.from, jumps[0].from, g.reason})
			}
			g.from = jumps[0].to
			if g.from >= g.to {
				break
			}
			dst = append(dst, jumps[0])
			jumps = jumps[1:]
		}
		if g.from < g.to {
			dst = append(dst, g)
		}
	}
	return append(dst, jumps...)
}
