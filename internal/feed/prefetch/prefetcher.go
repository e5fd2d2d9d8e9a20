// Package prefetch asks the system for the pages of coming batches before they are read.
//
// If the data is not in memory, a gather waits for one page after the other, although the disk
// could read many at once. The order is known, so the prefetcher asks for the pages of coming
// batches before they are made. It does not matter whether the gather workers read them, or the
// client through its own mapping of the same file. ranges.go computes what a batch reads, and
// prefetcher.go decides when to ask and how far ahead.
//
// # Caveats
//
// While all data is in memory, the cost is one check of one page a burst. bench/cold.py measures
// the gain.
package prefetch

import (
	"iter"
	"slices"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/sampler"
)

const (
	// The prefetcher asks for the pages of the coming batches: about aheadBytes, and at most
	// maxBatchesAhead batches.
	aheadBytes      = 16 << 20
	maxBatchesAhead = 256
	// burstsAhead is the number of bursts that the batches ahead make up. The trainer gets nothing
	// of a burst before all of it is in memory.
	burstsAhead = 16
	// If warmPages pages in a row were in memory, all data is assumed to be. warmChecks of them are
	// checked in each batch of scattered windows.
	warmPages  = 1024
	warmChecks = 16
	// coldChecks is the number of further windows of such a batch that are checked if a page is
	// missing. To wait for a single missing page costs less than to ask for all windows, which
	// takes 1.6 µs each.
	coldChecks = 64
)

// Pages are the pages of a mapped file.
type Pages interface {
	WillNeed(offset, n int64)
	Populate(offset, n int64)
	Resident(offset int64) bool
	DisableReadAhead() (end func())
	IsReadAheadOff() bool
}

// Prefetcher asks for the pages of one feed's coming batches. It belongs to the goroutine of the
// feed.
type Prefetcher struct {
	pages    Pages
	windows  *plan.Windows
	order    *sampler.Sampler // of the feed; only its options and Clone are used
	ranges   []columnRange
	maxAhead int64 // in batches

	consecutive bool // the windows of a batch are consecutive
	// The windows of all batches are consecutive, without gaps: the system reads ahead by itself.
	sequential bool

	cold            bool
	enableReadAhead func() // undoes DisableReadAhead
	// a second one, because a sampler stores one epoch's order at a time
	sampler        *sampler.Sampler
	epoch          uint64 // of the next batch to ask for
	consumed       int64
	ahead          int64 // batches that were asked for and are not made yet
	residentInARow int   // consecutive checks that found a page in memory
	batch          sampler.Batch
}

// Reader is who reads the rows of windows.
type Reader int

const (
	Nobody Reader = iota // there is nothing to ask for
	Daemon               // which makes masks from bits in memory
	Client               // which makes masks from the values
)

// New returns a prefetcher of windows in an order.
func New(pages Pages, w *plan.Windows, order *sampler.Sampler, reader Reader) *Prefetcher {
	p := &Prefetcher{pages: pages, windows: w, order: order}
	if reader != Nobody {
		p.ranges = columnRanges(w, reader == Client)
	}
	o := order.Options()
	traits := o.Traits()
	p.consecutive = traits.Consecutive
	stride := max(w.Index.Spec().Stride, 1)
	p.sequential = traits.Ascending && o.NumReplicas <= 1 &&
		!slices.ContainsFunc(p.ranges, func(r columnRange) bool { return !r.isDense(stride) })
	windows := float64(order.LargestBatch())
	var scattered, dense float64 // bytes of a batch
	for _, r := range p.ranges {
		row, rows := float64(r.row), float64(r.rows)
		scattered += windows * (rows*row + pageBytes)
		dense += (windows*float64(stride) + rows) * row
	}
	bytes := scattered
	if p.consecutive {
		bytes = min(scattered, dense)
	}
	p.maxAhead = int64(min(max(aheadBytes/max(bytes, 1), 2), maxBatchesAhead))
	return p
}

// IsCold reports whether the data is not in memory, so that batches must be awaited.
func (p *Prefetcher) IsCold() bool { return p.cold }

// Check begins to prefetch if the data is not in memory. The caller calls it with the first batch
// of each burst and the cursor before it.
func (p *Prefetcher) Check(first *sampler.Batch, epoch uint64, consumed int64) {
	if p.cold || len(p.ranges) == 0 || p.isResident(first.Windows[0]) || p.isSingleMiss(first) {
		return
	}
	if p.sampler == nil {
		p.sampler = p.order.Clone()
	}
	p.cold, p.residentInARow, p.ahead, p.epoch, p.consumed = true, 0, 0, epoch, consumed
	if p.enableReadAhead = func() {}; !p.sequential {
		p.enableReadAhead = p.pages.DisableReadAhead()
	}
}

// Await asks for the coming batches, and waits until this one is in memory. The caller calls it
// with each batch before it is made, while the data is cold.
//
// If all batches are sequential, it only waits: the system notices the order and reads ahead in
// large blocks, while prefetched pages come one by one, at half the speed of a fast disk
// (docs/performance.md). But another feed may have turned this off for the file.
func (p *Prefetcher) Await(b *sampler.Batch) error {
	if !p.cold {
		return nil
	}
	ask := !p.sequential || p.pages.IsReadAheadOff()
	for empty := 0; p.ahead < p.maxAhead && empty < 2; {
		left := p.sampler.Steps(p.epoch, p.consumed)
		if left > 0 {
			if err := p.sampler.Batch(&p.batch, p.epoch, p.consumed); err != nil {
				return err
			}
			p.countResident(&p.batch)
			if ask {
				p.eachRange(&p.batch, p.pages.WillNeed)
			}
			p.consumed = p.batch.Next
			p.ahead++
			empty = 0
		} else {
			empty++
		}
		if left <= 1 {
			p.epoch, p.consumed = p.epoch+1, 0
		}
	}
	p.ahead--
	p.eachRange(b, p.pages.Populate)
	if p.residentInARow >= warmPages {
		p.Stop()
	}
	return nil
}

// BurstSize returns how many of n batches to announce at once.
func (p *Prefetcher) BurstSize(n int) int {
	if !p.cold {
		return n
	}
	return min(n, max(1, int(p.maxAhead/burstsAhead)))
}

// Stop ends prefetching, because all data is in memory, or the feed continues at another cursor or
// ends.
func (p *Prefetcher) Stop() {
	if p.cold {
		p.cold = false
		p.enableReadAhead()
	}
}

// isResident reports whether the first page of a window is in memory.
func (p *Prefetcher) isResident(number int64) bool {
	from, _ := p.ranges[0].inFile(p.windows, p.windows.Index.Place(number))
	return p.pages.Resident(from)
}

// isSingleMiss reports whether only the first window of a batch is not in memory. Consecutive
// windows share pages, so a miss is never single there.
func (p *Prefetcher) isSingleMiss(b *sampler.Batch) bool {
	if p.consecutive || len(b.Windows) == 1 {
		return false
	}
	for number := range spread(b.Windows[1:], coldChecks) {
		if !p.isResident(number) {
			return false
		}
	}
	return true
}

// countResident checks pages of a batch that were not asked for yet.
func (p *Prefetcher) countResident(b *sampler.Batch) {
	checks := warmChecks
	if p.consecutive {
		checks = 1
	}
	for number := range spread(b.Windows, checks) {
		if p.residentInARow++; !p.isResident(number) {
			p.residentInARow = 0
		}
	}
}

// spread returns at most n of the windows, the first and others evenly spaced.
func spread(windows []int64, n int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n, i := min(n, len(windows)), 0; i < n && yield(windows[i*len(windows)/n]); i++ {
		}
	}
}
