package layout

import "sync"

// bufferBytes is how large a buffer of a column is. Pieces of the file that are written at once and begin and end at multiples
// of it lie in large folios of the page cache, which cost a third less to write and half as much to map as those of pages that
// happen to be as long as a source's. It is that of a large page of the processor, so that one fault maps, and makes writable,
// what takes 512 of smaller ones.
const bufferBytes = 2 << 20

// bufferPool is a pool of buffers, *[bufferBytes]byte.
var bufferPool = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// columnBuffer gathers the values that one goroutine writes, on their way to the file.
type columnBuffer struct {
	to      ColumnWriter // without a buffer
	memory  *[bufferBytes]byte
	n       int        // bytes gathered
	at      int64      // their offset in the file
	next    int64      // the row after those gathered
	pending []rowRange // gathered or stored, but not added to the sums yet
}

// Buffered is the column for one goroutine that writes values about in the order of rows: large pieces of them are stored together, and small
// ones are added to the sums together. What was written is complete after Close, and cannot be read before.
func (c ColumnWriter) Buffered() ColumnWriter {
	if c.buffer == nil {
		c.buffer = &columnBuffer{to: c}
	}
	return c
}

// Close stores what is gathered. It does nothing for a column that is not [ColumnWriter.Buffered]. The column may be written again after.
func (c ColumnWriter) Close() {
	b := c.buffer
	if b == nil {
		return
	}
	b.flush()
	if b.memory != nil {
		bufferPool.Put(b.memory)
		b.memory = nil
	}
}

// accepts reports whether rows are better gathered than stored at once, as few are that do not follow those before.
func (b *columnBuffer) accepts(row int64, bytes []byte) bool {
	return b.to.write != nil && b.to.contiguous() && (row == b.next && b.n > 0 || len(bytes) >= minWriteBytes)
}

// write gathers rows.
func (b *columnBuffer) write(row int64, bytes []byte) {
	b.begin(row)
	b.next = row + int64(len(bytes))/(b.to.step*b.to.DType.Size())
	b.add(row, b.next, bytes)
	for len(bytes) > 0 {
		n := copy(b.free(), bytes)
		bytes = bytes[n:]
		b.advance(n)
	}
}

// begin makes a row the next one.
func (b *columnBuffer) begin(row int64) {
	if row == b.next && b.n > 0 {
		return
	}
	b.flush()
	b.at, b.next = b.to.offset+row*b.to.step*b.to.DType.Size(), row
}

// free is where bytes are gathered next; there always is some.
func (b *columnBuffer) free() []byte {
	if b.memory == nil {
		b.memory = bufferPool.Get().(*[bufferBytes]byte)
	}
	return b.memory[b.n : bufferBytes-int(b.at%bufferBytes)]
}

// advance gathers n bytes that lie where free is.
func (b *columnBuffer) advance(n int) {
	if b.n += n; (b.at+int64(b.n))%bufferBytes == 0 {
		b.store()
	}
}

// commit gathers n values that lie where free is.
func (b *columnBuffer) commit(row, n int64) {
	bytes := b.free()[:n*b.to.DType.Size()]
	b.next = row + n
	b.add(row, row+n, bytes)
	b.advance(len(bytes))
}

// add adds the rows from row to end-1 to the sums, or records that they are to be added.
func (b *columnBuffer) add(row, end int64, bytes []byte) {
	if b.to.accumulator == nil || b.to.accumulator.add(row, bytes) {
		return
	}
	if n := len(b.pending); n > 0 && b.pending[n-1].to == row {
		b.pending[n-1].to = end
	} else {
		b.pending = append(b.pending, rowRange{row, end})
	}
}

// stored adds rows that are stored already to the sums, when they are many.
func (b *columnBuffer) stored(row, end int64, bytes []byte) {
	b.add(row, end, bytes)
	if n := len(b.pending); n > 0 && b.n == 0 && (b.pending[n-1].to-b.pending[0].from)*b.to.step*b.to.DType.Size() >= minWriteBytes {
		b.addPending()
	}
}

// store stores what is gathered.
func (b *columnBuffer) store() {
	if bytes := b.memory[:b.n]; b.to.write == nil || b.to.write(bytes, b.at) != nil {
		copy(b.to.data[b.at-b.to.offset:], bytes)
	} else if b.to.draft {
		b.to.populate(b.at, int64(b.n)) // else the pages are made writable later
	}
	b.at, b.n = b.at+int64(b.n), 0
}

func (b *columnBuffer) flush() {
	if b.n > 0 {
		b.store()
	}
	b.addPending()
}

// addPending adds to the sums what was not added on the way. All of it is stored.
func (b *columnBuffer) addPending() {
	for _, l := range b.pending {
		b.to.accumulator.stored(l.from, l.to-l.from)
	}
	b.pending = b.pending[:0]
}
