package window

import "sort"

// rejection is a range of position numbers [from, to) of an item that max_step or max_missing
// rejects.
type rejection struct {
	item, from, to int64
	reason         int // index of Reasons
}

// findRejections finds what max_step and max_missing reject, once for an index and all its parts.
// It takes time in proportion to the rows it reads, and memory in proportion to the rejections.
func (b *base) findRejections() error {
	checkSteps, checkMissing := b.spec.MaxStep != nil, b.hasMissing()
	if !checkSteps && !checkMissing {
		return nil
	}
	scan := newMissingScan(b)
	var jumps, missing []rejection
	for item := int64(0); item < b.table.Items(); item++ {
		if !checkSteps {
			if item = scan.nextItem(item); item == b.table.Items() {
				break
			}
		}
		n := b.table.length(item)
		if n < 0 {
			return b.table.descendingOffsets(item)
		}
		from, to := b.admitted(item)
		p := b.shape.positions(n, from, to)
		jumps, missing = jumps[:0], missing[:0]
		if checkSteps {
			var err error
			if jumps, err = b.jumps(jumps, item, &p); err != nil {
				return err
			}
		}
		if checkMissing {
			missing = scan.rejections(missing, item, &p)
		}
		b.rejections = mergeRejections(b.rejections, jumps, missing)
	}
	return nil
}

// jumps appends the positions whose windows contain two neighbouring rows that are further apart in
// time than max_step.
func (b *base) jumps(dst []rejection, item int64, p *positions) ([]rejection, error) {
	times, offset := b.table.times(item), b.table.Offsets[item]
	for row := p.a + 1; row < p.b; row++ {
		if b.table.LargestSteps != nil {
			if at := offset + row; b.table.LargestSteps[at/StepRows] <= b.maxStep {
				row = (at/StepRows+1)*StepRows - offset - 1 // the last row of its block
				continue
			}
		}
		before, now := times[row-1], times[row]
		if now <= before {
			return nil, descendingTimes(item, row, now, before)
		}
		if b.isJump(before, now) {
			r := rejection{item, p.before(row - b.shape.last), p.before(row), byMaxStep}
			dst = appendRejection(dst, r)
		}
	}
	return dst, nil
}

// isJump reports whether the times of two neighbouring rows are further apart than max_step.
func (b *base) isJump(before, now int64) bool { return uint64(now)-uint64(before) > b.maxStep }

// appendRejection appends a rejection that does not begin before the last one. It joins the two if
// they overlap or touch.
func appendRejection(dst []rejection, r rejection) []rejection {
	if r.from >= r.to {
		return dst
	}
	if n := len(dst); n > 0 && dst[n-1].item == r.item && r.from <= dst[n-1].to {
		dst[n-1].to = max(dst[n-1].to, r.to)
		return dst
	}
	return append(dst, r)
}

// mergeRejections appends the rejections of one item in ascending order. Positions in both lists
// are rejected by jumps.
func mergeRejections(dst, jumps, missing []rejection) []rejection {
	for _, m := range missing {
		for len(jumps) > 0 && jumps[0].to <= m.from {
			dst = append(dst, jumps[0])
			jumps = jumps[1:]
		}
		for len(jumps) > 0 && jumps[0].from < m.to {
			if m.from < jumps[0].from {
				dst = append(dst, rejection{m.item, m.from, jumps[0].from, m.reason})
			}
			m.from = jumps[0].to
			if m.from >= m.to {
				break
			}
			dst = append(dst, jumps[0])
			jumps = jumps[1:]
		}
		if m.from < m.to {
			dst = append(dst, m)
		}
	}
	return append(dst, jumps...)
}

// rejectionsFrom returns the rejections of an item and of all items after it.
func (b *base) rejectionsFrom(item int64) []rejection {
	return b.rejections[sort.Search(len(b.rejections),
		func(i int) bool { return b.rejections[i].item >= item }):]
}

// rejectedBy returns the reason that rejects position k of an item, or isWindow. rejections may
// begin with those of the item; it has none of items before it.
func rejectedBy(rejections []rejection, item, k int64) int {
	for _, r := range rejections {
		if r.item != item || r.from > k {
			break
		}
		if k < r.to {
			return r.reason
		}
	}
	return isWindow
}
