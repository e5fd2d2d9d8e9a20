package ingest

import (
	"math"
	"sync"
)

const (
	// glanceRows are looked at of every glanceEvery: enough for an estimate, and too few to be felt.
	glanceRows  = 1 << 12
	glanceEvery = 1 << 16
	// glanceItems is how many items are remembered.
	glanceItems = 1 << 16
)

// ordering looks, while the sources are read, whether their rows come in order, so that the estimate counts a sorting only where one is to be
// done. It looks at samples; [load.sort] looks at every row.
type ordering struct {
	mu    sync.Mutex
	state orderState
	plan  func() // is called where the state changes

	keys  *keys         // of the source that is read
	ahead int64         // rows of the sources before it, less the row of the keys that it begins at
	next  int64         // rows up to its end
	rows  int64         // its own
	need  int           // how many key columns come range by range
	have  map[int64]int // how many of them have come, by the first row of the range

	filter *filter                    // nil where all rows are kept
	words  func() map[string][]string // those that text columns have so far
	looked int64                      // rows that the filter was asked for
	kept   int64                      // and lets through
	of     int64                      // rows that were read, once they are and those that are kept are known; else 0

	seen *numbering
	last []glimpse // by item
	end  struct{ row, item, time int64 }
}

type orderState int

const (
	orderUnknown orderState = iota
	orderKept               // so far
	orderMixed              // stretches that are in order lie about, or the rows go by time
	orderBroken
)

// mixedDescents is of how many rows one at most is of an earlier time than the one before where rows are mixed: of shuffled ones it is every
// other.
const mixedDescents = 16

// glimpse is the last sample that an item was in: its first row, and whether no other item comes after it there.
type glimpse struct {
	row   int64
	going bool
}

func newOrdering(plan func()) *ordering {
	o := &ordering{plan: plan}
	o.end.item = -1
	return o
}

// begin takes up a source, whose first row is row0 of the keys.
func (o *ordering) begin(k *keys, row0, rows int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys, o.rows, o.need, o.have = k, rows, len(k.at), map[int64]int{}
	if k.time != nil {
		o.need++
	}
	if o.seen == nil {
		o.seen = newNumbering(len(k.at))
	}
	o.ahead, o.next = o.next-row0, o.next+rows
}

// note takes in that a key column has its values in n rows.
func (o *ordering) note(row, n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == orderBroken && o.filter == nil || n == 0 {
		return
	}
	o.have[row]++
	switch {
	case o.have[row] == o.need:
		delete(o.have, row)
	case n == o.rows: // the others may come in smaller ranges
		o.need--
		delete(o.have, row)
		return
	default:
		return
	}
	state, before := max(o.state, orderKept), o.share()
	for from := row - row%glanceEvery; from < row+n; from += glanceEvery {
		at, end := max(from, row), min(from+glanceRows, row+n)
		if at >= end { // small ranges, as Arrow's batches, need not have any
			continue
		}
		if state > orderKept || !o.look(at, end) {
			state = max(state, o.disorder(at, end))
		}
		if o.filter != nil && len(o.filter.verdicts) <= glanceItems {
			o.count(at, end)
		}
	}
	if now := o.share(); math.Abs(now-before) > 0.01 {
		o.state = state
		o.plan()
		return
	}
	o.settle(state)
}

// count asks the filter for a sample.
func (o *ordering) count(row, end int64) {
	f, words := o.filter, o.words()
	for i, name := range o.keys.names {
		o.keys.words[i] = words[name]
	}
	f.keys = o.keys
	for at := row; at < end; at++ {
		o.looked++
		if f.keepsAfter(at, at == row) {
			o.kept++
		}
	}
}

// share is that of the rows which the filter lets through, as far as they were looked at.
func (o *ordering) share() float64 {
	if o.looked == 0 {
		return 1
	}
	return float64(max(1, o.kept)) / float64(o.looked)
}

// keep says how many rows the filter has let through, now that it is known.
func (o *ordering) keep(kept, of int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept, o.looked, o.of = kept, of, of
	o.plan()
}

// settle plans anew where the state changes.
func (o *ordering) settle(s orderState) {
	if o.state != s {
		o.state = s
		o.plan()
	}
}

// look tells whether a sample is in order, in itself and behind those before it. Where a later one was looked at already, only in itself.
func (o *ordering) look(row, end int64) bool {
	k, sample := o.keys, o.ahead+row
	late := sample < o.end.row
	item, time := o.number(row), k.whenIfAny(row)
	if !late && item != o.end.item {
		o.leave(o.end.item, o.end.row)
	}
	if !late && item >= 0 && item == o.end.item && time < o.end.time || !o.meet(item, sample, true, late) {
		return false
	}
	for row++; row < end; row++ {
		t := k.whenIfAny(row)
		if k.same(row-1, row) {
			if t < time {
				return false
			}
		} else {
			o.leave(item, sample)
			if item = o.number(row); !o.meet(item, sample, false, late) {
				return false
			}
		}
		time = t
	}
	if !late {
		o.end.row, o.end.item, o.end.time = sample, item, time
	}
	return true
}

// disorder tells how far a sample that is not in order is from it.
func (o *ordering) disorder(row, end int64) orderState {
	descents := int64(0)
	for at := row + 1; at < end; at++ {
		if o.keys.whenIfAny(at) < o.keys.whenIfAny(at-1) {
			descents++
		}
	}
	if descents*mixedDescents > end-row {
		return orderBroken
	}
	return orderMixed
}

// number is that of a row's item, negative where there are too many.
func (o *ordering) number(row int64) int64 {
	if len(o.last) > glanceItems {
		return -1
	}
	n, _ := o.seen.number(o.keys, row)
	return n
}

// meet tells whether an item may stand where it does: at the beginning of a sample or in it.
func (o *ordering) meet(item, sample int64, begins, late bool) bool {
	if item < 0 {
		return true
	}
	if item == int64(len(o.last)) {
		o.last = append(o.last, glimpse{sample, true})
		return true
	}
	g := &o.last[item]
	if g.row >= sample {
		return g.row > sample // else it has come back
	}
	goesOn := g.going && begins || late
	*g = glimpse{sample, true}
	return goesOn
}

// leave notes that another item follows.
func (o *ordering) leave(item, sample int64) {
	if item >= 0 && o.last[item].row == sample {
		o.last[item].going = false
	}
}
