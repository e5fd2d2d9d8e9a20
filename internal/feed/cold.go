package feed

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// Where the data is not in memory, whoever reads a window waits for one page after the other, while
// the disk could read many at once. The order is known, so the pages of the coming batches are
// asked for before the batches are made, whoever will read them: the gather workers here, or the
// client by its own map of the same file.
const (
	// aheadBytes is about how much is asked for ahead of the batches that are made; aheadBatches
	// bounds what that comes to where batches are small.
	aheadBytes   = 16 << 20
	aheadBatches = 256
	// aheadBursts is in how many bursts that is announced: the trainer gets nothing of a burst
	// before all of it is in memory.
	aheadBursts = 16
	// warmPages is how many pages in a row must have been in memory before it is believed that all
	// is; warmLooks of them are looked at in each batch whose windows are scattered.
	warmPages = 1024
	warmLooks = 16
	// coldLooks is how many more windows of such a batch are looked at where a page is missing: one
	// that is alone is sooner waited for than all windows are asked for, which takes 1.6 µs each.
	coldLooks = 64
	pageBytes = 1 << 12 // about
)

// pages are those of a mapped file.
type pages interface {
	WillNeed(offset, n int64)
	Populate(offset, n int64)
	Resident(offset int64) bool
	Scattered() (end func())
	IsScattered() bool
}

// stripe is what windows touch of columns that lie together: bytes of each row, of some rows of a
// window.
type stripe struct {
	offset int64 // of row 0 in the file
	row    int64 // bytes from row to row
	width  int64 // bytes that are read of a row
	first  int64 // the window's row at which it begins
	rows   int64
}

// asker asks for the pages of coming batches. While all is in memory it costs one look at one page
// a burst. It belongs to the producer of its stream.
type asker struct {
	pages       pages
	windows     *Windows
	options     sampler.Options
	stripes     []stripe
	most        int64 // batches ahead
	consecutive bool  // the windows of a batch are consecutive
	// so are those of all batches, and they leave out nothing: the system reads on by itself
	onward bool

	cold     bool
	end      func()           // of reading no more than is asked for, while it is cold
	sampler  *sampler.Sampler // of its own: a sampler knows one epoch's order at a time
	epoch    uint64           // what is asked for next
	consumed int64
	ahead    int64 // batches that were asked for and not made yet
	resident int   // pages in a row that were in memory
	batch    sampler.Batch
}

// newAsker has nothing to ask for where places are all that is wanted: nobody reads the rows then.
func newAsker(p pages, w *Windows, o sampler.Options, delivery string) *asker {
	a := &asker{pages: p, windows: w, options: o}
	if delivery != Starts {
		a.stripes = stripesOf(w)
	}
	traits := o.Traits()
	a.consecutive = traits.Consecutive
	stride := max(w.Index.Spec().Stride, 1)
	a.onward = traits.Ascending && o.NumReplicas <= 1 &&
		!slices.ContainsFunc(a.stripes, func(s stripe) bool { return !s.beside(stride) })
	batch := float64(o.BatchSize)
	var scattered, beside float64
	for _, s := range a.stripes {
		row, rows := float64(s.row), float64(s.rows)
		scattered += batch * (rows*row + pageBytes)
		beside += (batch*float64(stride) + rows) * row
	}
	bytes := scattered
	if a.consecutive {
		bytes = min(scattered, beside)
	}
	a.most = int64(min(max(aheadBytes/max(bytes, 1), 2), aheadBatches))
	return a
}

// stripesOf are the stripes of a spec's parts, each once.
func stripesOf(w *Windows) (out []stripe) {
	spec := w.Index.Spec()
	firsts, lengths, dilation := partFirst(spec), partLengths(spec), max(spec.Dilation, 1)
	for name, columns := range w.chosen.parts() {
		if name == "static" || lengths[name] == 0 {
			continue // an item's static values are one row, and small
		}
		for _, c := range columns {
			out = append(out, stripe{c.Offset, c.Strides[0], max(c.Width(), 1) * c.DType.Size(),
				firsts[name] * dilation, (lengths[name]-1)*dilation + 1})
		}
	}
	slices.SortFunc(out, func(a, b stripe) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.offset, b.offset),
			cmp.Compare(a.first, b.first))
	})
	merged := out[:0]
	for _, s := range out {
		if n := len(merged); n > 0 && merged[n-1].add(s) {
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// beside tells whether windows so many rows apart leave out less than a page between them.
func (s stripe) beside(stride int64) bool { return (stride-s.rows)*s.row < pageBytes }

// add takes in a stripe that lies in the same rows of the file, and near in a window's.
func (s *stripe) add(o stripe) bool {
	if o.row != s.row || o.offset-s.offset >= s.row || o.first > s.first+s.rows ||
		s.first > o.first+o.rows {
		return false
	}
	s.width = max(s.width, o.offset-s.offset+o.width)
	first, end := min(s.first, o.first), max(s.first+s.rows, o.first+o.rows)
	s.first, s.rows = first, end-first
	return true
}

// look is called with the first batch of each burst and the cursor before it: where that is not in
// memory, asking begins.
func (a *asker) look(first *sampler.Batch, epoch uint64, consumed int64) (err error) {
	if a.cold || len(a.stripes) == 0 || a.isResident(first.Windows[0]) || a.isAlone(first) {
		return nil
	}
	if a.sampler == nil {
		if a.sampler, err = sampler.New(a.windows.Index, a.options); err != nil {
			return err
		}
	}
	a.cold, a.resident, a.ahead, a.epoch, a.consumed = true, 0, 0, epoch, consumed
	if a.end = func() {}; !a.onward {
		a.end = a.pages.Scattered()
	}
	return nil
}

// next is called with each batch before it is made: it asks for the batches to come, and waits
// until this one is in memory. Where all batches go onward it only waits: the system, which sees
// that, reads on in large pieces, while what is asked for comes page by page, at half the speed of
// a fast disk (bench/README.md). Another feed may have it read nothing by itself.
func (a *asker) next(b *sampler.Batch) error {
	if !a.cold {
		return nil
	}
	ask := !a.onward || a.pages.IsScattered()
	for empty := 0; a.ahead < a.most && empty < 2; {
		left := a.sampler.Steps(a.epoch, a.consumed)
		if left > 0 {
			if err := a.sampler.Batch(&a.batch, a.epoch, a.consumed); err != nil {
				return err
			}
			a.count(&a.batch)
			if ask {
				a.each(&a.batch, a.pages.WillNeed)
			}
			a.consumed = a.batch.Next
			a.ahead++
			empty = 0
		} else {
			empty++
		}
		if left <= 1 {
			a.epoch, a.consumed = a.epoch+1, 0
		}
	}
	a.ahead--
	a.each(b, a.pages.Populate)
	if a.resident >= warmPages {
		a.forget()
	}
	return nil
}

// burst is how many of n batches to announce at once.
func (a *asker) burst(n int) int {
	if !a.cold {
		return n
	}
	return min(n, max(1, int(a.most/aheadBursts)))
}

// isResident looks at the first page of a window.
func (a *asker) isResident(number int64) bool {
	from, _ := a.span(a.stripes[0], a.windows.Index.Place(number))
	return a.pages.Resident(from)
}

// isAlone tells whether of the windows of a batch only the first is not in memory. Where windows
// lie beside each other they share pages, and are asked for at once.
func (a *asker) isAlone(b *sampler.Batch) bool {
	if a.consecutive || len(b.Windows) == 1 {
		return false
	}
	for number := range some(b.Windows[1:], coldLooks) {
		if !a.isResident(number) {
			return false
		}
	}
	return true
}

// count looks at pages of a batch that nobody has asked for yet.
func (a *asker) count(b *sampler.Batch) {
	looks := warmLooks
	if a.consecutive {
		looks = 1
	}
	for number := range some(b.Windows, looks) {
		if a.resident++; !a.isResident(number) {
			a.resident = 0
		}
	}
}

// some are at most n of the windows, the first and others as far from each other.
func some(windows []int64, n int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n, i := min(n, len(windows)), 0; i < n && yield(windows[i*len(windows)/n]); i++ {
		}
	}
}

// each does something with all that a batch reads: at once with what lies beside each other, or
// less than a page apart.
func (a *asker) each(b *sampler.Batch, do func(offset, n int64)) {
	x, last := a.windows.Index, len(b.Windows)-1
	stride := max(x.Spec().Stride, 1)
	together := a.consecutive && follows(x, b.Windows)
	for _, s := range a.stripes {
		from, to := a.span(s, x.Place(b.Windows[0]))
		if together && s.beside(stride) {
			_, to = a.span(s, x.Place(b.Windows[last]))
			do(from, to-from)
			continue
		}
		for _, number := range b.Windows[1:] {
			f, t := a.span(s, x.Place(number))
			if f >= from && f <= to {
				to = max(to, t)
				continue
			}
			do(from, to-from)
			from, to = f, t
		}
		do(from, to-from)
	}
}

// span is where in the file a window's rows of a stripe are; rows outside its item are padding, or
// those of the future.
func (a *asker) span(s stripe, p window.Place) (from, to int64) {
	offsets := a.windows.table.Offsets
	first, end := offsets[p.Item], offsets[p.Item+1]
	row := offsets[p.Item] + p.Start + s.first
	from, to = max(row, first), min(row+s.rows, end)
	if from >= to {
		from, to = first, first+1
	}
	return s.offset + from*s.row, s.offset + (to-1)*s.row + s.width
}

// forget is called when all is in memory, and when the stream goes on elsewhere or ends.
func (a *asker) forget() {
	if a.cold {
		a.cold = false
		a.end()
	}
}
