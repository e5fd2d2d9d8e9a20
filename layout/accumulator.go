package layout

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// running are the checksum and the statistics of a column, which are taken from its rows in their order: where the values are [Put],
// while they are in the processor's cache, or soon after where others come before them; what is left then by [Writer.Finish].
type running struct {
	width, stride int64 // bytes of a row, and between the beginnings of rows
	data          []byte
	hash          xxhash.Digest
	seen          *observer
	missing       int64

	mu   sync.Mutex
	off  bool  // rows may have changed that are taken in
	busy bool  // somebody takes in rows
	rows int64 // that are taken in
	done []rowRange
}

// rowRange are rows that are stored but not taken in: others before them are not.
type rowRange struct{ from, to int64 }

// runningAtMost is of how many columns sums are kept while they are filled: each keeps a sample of up to 16 KiB.
const runningAtMost = 1 << 10

func (w *Writer) newRunning(i int) *running {
	c := w.table.Columns[i]
	r := &running{width: c.values() * c.DType.Size(), stride: w.strides[i], data: w.Dest(i).data, seen: newObserver(c.DType, w.table.Rows*c.values())}
	r.hash.Reset()
	return r
}

// takeLeast is how many bytes are worth to be taken in at once: a few values cost more by themselves.
const takeLeast = 4 << 10

// take takes rows in, dense, if they are the next and many; they need not be stored yet.
func (r *running) take(row int64, dense []byte) (taken bool) {
	if r == nil || len(dense) < takeLeast {
		return false
	}
	r.mu.Lock()
	r.off = r.off || row < r.rows
	if r.off || r.busy || row != r.rows {
		r.mu.Unlock()
		return false
	}
	r.busy = true
	r.mu.Unlock()
	n := int64(len(dense)) / r.width
	tiles(dense, r.width, r.width, 0, n, r.see)
	r.mu.Lock()
	r.rows += n
	r.catchUp()
	r.mu.Unlock()
	return true
}

// stored notes rows that were stored but not taken in.
func (r *running) stored(row, n int64) {
	if r == nil || n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off = r.off || row < r.rows; r.off {
		return
	}
	at, _ := slices.BinarySearchFunc(r.done, row, func(d rowRange, row int64) int { return int(d.from - row) })
	if at > 0 && r.done[at-1].to == row {
		at--
		r.done[at].to += n
	} else {
		r.done = slices.Insert(r.done, at, rowRange{row, row + n})
	}
	if next := at + 1; next < len(r.done) && r.done[next].from == r.done[at].to {
		r.done[at].to = r.done[next].to
		r.done = slices.Delete(r.done, next, next+1)
	}
	if !r.busy {
		r.busy = true
		r.catchUp()
	}
}

// giveUp leaves everything to the end: values are stored in a way that is not seen here.
func (r *running) giveUp() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = true
}

// catchUp takes in what is stored behind the rows that are, if it is much, and ends being busy. It holds the lock but while it works.
func (r *running) catchUp() {
	for !r.off && len(r.done) > 0 && r.done[0].from == r.rows && (r.done[0].to-r.rows)*r.width >= takeLeast {
		end := r.done[0].to
		r.done = slices.Delete(r.done, 0, 1)
		r.mu.Unlock()
		tiles(r.data, r.stride, r.width, r.rows, end, r.see)
		r.mu.Lock()
		r.rows = end
	}
	r.busy = false
}

// end takes in the rows that are left of so many.
func (r *running) end(rows int64) {
	tiles(r.data, r.stride, r.width, r.rows, rows, r.see)
	r.rows = rows
}

// aligned are buffers, *[]byte, of whoever takes in what is not aligned: a few for all columns, of which there may be thousands.
var aligned = sync.Pool{New: func() any { return new([]byte) }}

func (r *running) see(block []byte) {
	if uintptr(unsafe.Pointer(&block[0]))%8 != 0 { // as the values of a decoded page may lie
		buffer := aligned.Get().(*[]byte)
		defer aligned.Put(buffer)
		*buffer = append((*buffer)[:0], block...)
		block = *buffer
	}
	r.hash.Write(block) // never fails
	r.missing += r.seen.see(block)
}
