package layout

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// accumulator computes the checksum and the statistics of a column from its rows in order: while the values are written and are in the
// processor's cache, or soon after if other rows come before them. [Writer.Finish] adds the rows that are left then.
type accumulator struct {
	width, stride int64 // bytes of a row, and between the beginnings of rows
	data          []byte
	hash          xxhash.Digest
	observer      *observer
	missing       int64

	mu       sync.Mutex
	deferred bool       // rows that were added may have changed: Finish begins again
	busy     bool       // a goroutine adds rows
	rows     int64      // that were added
	pending  []rowRange // that are stored but not added, because rows before them are not stored
}

// rowRange is the rows from from to to-1.
type rowRange struct{ from, to int64 }

// maxAccumulators bounds how many columns have an accumulator before Finish: each has a sample of up to 16 KiB.
const maxAccumulators = 1 << 10

func (w *Writer) newAccumulator(i int) *accumulator {
	c := w.table.Columns[i]
	a := &accumulator{width: c.values() * c.DType.Size(), stride: w.strides[i], data: w.column(i).data, observer: newObserver(c.DType, w.table.Rows*c.values())}
	a.hash.Reset()
	return a
}

// minAddBytes is the least that is added at once, but at the end: a call has a cost of its own.
const minAddBytes = 4 << 10

// add adds rows, dense, if they are the next ones and many. They need not be stored yet.
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
	a.busy = true
	a.mu.Unlock()
	n := int64(len(dense)) / a.width
	eachTile(dense, a.width, a.width, 0, n, a.addBlock)
	a.mu.Lock()
	a.rows += n
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
	at, _ := slices.BinarySearchFunc(a.pending, row, func(d rowRange, row int64) int { return int(d.from - row) })
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
	if !a.busy {
		a.busy = true
		a.addPending()
	}
}

// deferToEnd leaves all rows to Finish, because values are stored in a way that the accumulator does not see.
func (a *accumulator) deferToEnd() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deferred = true
}

// addPending adds the stored rows that follow the added ones, if they are many, and then clears busy. The caller has the lock, which is
// free while rows are added.
func (a *accumulator) addPending() {
	for !a.deferred && len(a.pending) > 0 && a.pending[0].from == a.rows && (a.pending[0].to-a.rows)*a.width >= minAddBytes {
		end := a.pending[0].to
		a.pending = slices.Delete(a.pending, 0, 1)
		a.mu.Unlock()
		eachTile(a.data, a.stride, a.width, a.rows, end, a.addBlock)
		a.mu.Lock()
		a.rows = end
	}
	a.busy = false
}

// finish adds the rows that are left, up to rows.
func (a *accumulator) finish(rows int64) {
	eachTile(a.data, a.stride, a.width, a.rows, rows, a.addBlock)
	a.rows = rows
}

// aligned is a pool of buffers, *[]byte, for blocks that are not aligned: a few for all columns, of which there may be thousands.
var aligned = sync.Pool{New: func() any { return new([]byte) }}

func (a *accumulator) addBlock(block []byte) {
	if uintptr(unsafe.Pointer(&block[0]))%8 != 0 { // as the values of a decoded page may be
		buffer := aligned.Get().(*[]byte)
		defer aligned.Put(buffer)
		*buffer = append((*buffer)[:0], block...)
		block = *buffer
	}
	a.hash.Write(block) // never fails
	a.missing += a.observer.add(block)
}
