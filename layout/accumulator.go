package layout

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// accumulator computes the checksum and the statistics of a column from its rows in order. It reads
// values while they are written and are still in the CPU cache. Rows that are written out of order
// wait until all rows before them are stored. [Writer.Finish] adds the remaining rows.
type accumulator struct {
	width, stride int64 // bytes of a row; bytes between row starts
	data          []byte
	hash          xxhash.Digest
	statistics    *columnStatistics
	missing       int64

	mu       sync.Mutex
	deferred bool       // added rows may have changed: Finish starts again
	busy     bool       // a goroutine is adding rows
	rows     int64      // added so far
	pending  []rowRange // stored but not added: earlier rows are missing
}

// maxPending is the largest number of ranges that wait for earlier rows. Searching and moving more,
// as for the series of a melted file, takes longer than reading all rows again.
const maxPending = 1 << 10

// rowRange is the rows from from to to-1.
type rowRange struct{ from, to int64 }

// maxAccumulators is the largest number of columns that have an accumulator before Finish. Each
// accumulator has a sample of up to 16 KiB.
const maxAccumulators = 1 << 10

func (w *Writer) newAccumulator(i int) *accumulator {
	c := w.table.Columns[i]
	a := &accumulator{
		width: c.values() * c.DType.Size(), stride: w.strides[i], data: w.column(i).data,
		statistics: newColumnStatistics(c.DType, w.table.Rows*c.values()),
	}
	a.hash.Reset()
	return a
}

// minAddBytes is the smallest number of bytes that one call adds, except at the end. It limits the
// overhead of calls.
const minAddBytes = 4 << 10

// add adds contiguous rows, which need not be stored yet, and reports whether it did. It does so
// only if they are the next rows, have at least minAddBytes, and no other goroutine adds rows.
func (a *accumulator) add(row int64, dense []byte) (added bool) {
	if a == nil || len(dense) < minAddBytes {
		return false
	}
	a.mu.Lock()
	a.deferred = a.deferred || row < a.rows
	if a.deferred || a.busy || row != a.rows {
		a.mu.Unlock()
		return false
	}
	n := int64(len(dense)) / a.width
	a.busy, a.rows = true, row+n // a row that is written again meanwhile is noticed
	a.mu.Unlock()
	eachBlock(dense, a.width, a.width, 0, n, a.addBlock)
	a.mu.Lock()
	a.addPending()
	a.mu.Unlock()
	return true
}

// stored records rows that are stored but were not added.
func (a *accumulator) stored(row, n int64) {
	if a == nil || n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.deferred = a.deferred || row < a.rows; a.deferred {
		return
	}
	at, _ := slices.BinarySearchFunc(a.pending, row,
		func(d rowRange, row int64) int { return int(d.from - row) })
	if at > 0 && a.pending[at-1].to == row {
		at--
		a.pending[at].to += n
	} else {
		a.pending = slices.Insert(a.pending, at, rowRange{row, row + n})
	}
	if next := at + 1; next < len(a.pending) && a.pending[next].from == a.pending[at].to {
		a.pending[at].to = a.pending[next].to
		a.pending = slices.Delete(a.pending, next, next+1)
	}
	if len(a.pending) > maxPending {
		a.deferred, a.pending = true, nil
	} else if !a.busy {
		a.busy = true
		a.addPending()
	}
}

// deferToEnd leaves all rows to Finish, because the caller stores values without calling add or
// stored.
func (a *accumulator) deferToEnd() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deferred = true
}

// addPending adds the stored rows that follow the added rows, if they have at least minAddBytes,
// and then clears busy. The caller holds the lock. addPending releases it while it adds rows.
func (a *accumulator) addPending() {
	for !a.deferred && len(a.pending) > 0 && a.pending[0].from == a.rows &&
		(a.pending[0].to-a.rows)*a.width >= minAddBytes {
		first, end := a.rows, a.pending[0].to
		a.pending = slices.Delete(a.pending, 0, 1)
		a.rows = end // as in add
		a.mu.Unlock()
		eachBlock(a.data, a.stride, a.width, first, end, a.addBlock)
		a.mu.Lock()
	}
	a.busy = false
}

// finish adds the remaining rows, up to rows.
func (a *accumulator) finish(rows int64) {
	eachBlock(a.data, a.stride, a.width, a.rows, rows, a.addBlock)
	a.rows = rows
}

// aligned is a pool of buffers, *[]byte, for blocks that are not aligned. All columns share the
// pool, because there may be thousands of columns.
var aligned = sync.Pool{New: func() any { return new([]byte) }}

func (a *accumulator) addBlock(block []byte) {
	if uintptr(unsafe.Pointer(&block[0]))%8 != 0 { // a decoded page may be unaligned
		buffer := aligned.Get().(*[]byte)
		defer aligned.Put(buffer)
		*buffer = append((*buffer)[:0], block...)
		block = *buffer
	}
	a.hash.Write(block) // never fails
	a.missing += a.statistics.add(block)
}
