package layout

import "unsafe"

// Mode says how the values of a column are written. [Writer.Column] takes it when it opens the
// column.
type Mode int

const (
	// Random is for values that are read and written in any order, any number of times. Finish
	// reads the column once more to compute checksum and statistics.
	Random Mode = iota
	// WriteOnce is for final values: each row is written once and does not change afterwards. A row
	// may be written again with equal values. Checksum and statistics are computed during the
	// writes. Finish reads only the columns after the first 1,024, and the rows that were written
	// out of order or through [Values].
	WriteOnce
	// Draft is for values that are written once and then replaced in place. If they are written
	// through [ColumnWriter.Buffered], their pages are prefaulted for writing right after the first
	// write, which takes a fraction of the time that it takes later. Otherwise it is like Random.
	Draft
	// Rewrite is for final values with which one goroutine overwrites other values, row after row.
	// Their pages are prefaulted for writing in blocks.
	Rewrite
	// ReadRewrite is Rewrite for a column whose old values are read first. All pages are
	// prefaulted for writing at once, because pages that were read first take longer.
	ReadRewrite
)

// ColumnWriter writes one column of a generation. It is valid until Finish or Abort. It is safe for
// concurrent use on different rows, with two exceptions: mode Rewrite or ReadRewrite, and a column
// of [ColumnWriter.Buffered].
type ColumnWriter struct {
	Column
	Rows int64
	step int64 // stride between rows, in values
	data []byte
	// write writes bytes at an offset of the file. It is nil if they must be written through data.
	write  func(b []byte, at int64) error
	offset int64 // of data in the file
	// populate prefaults bytes of the file for writing through data.
	populate func(at, n int64) (ok bool)
	// draft is true if pages are prefaulted as soon as they are written.
	draft bool
	// accumulator computes checksum and statistics of the written values; nil leaves them to
	// Finish.
	accumulator *accumulator
	// buffer is nil if values are stored at once.
	buffer *columnBuffer
	// populated is the number of rows that are writable through the mapping; nil if not counted.
	populated *int64
}

// Column opens the i-th column of the table. A column must not be opened by several goroutines at
// once.
func (w *Writer) Column(i int, m Mode) ColumnWriter {
	c := w.column(i)
	if m == Random {
		return c
	}
	if m == Draft {
		c.draft = c.populate != nil
		return c
	}
	if i < maxAccumulators && w.accumulators[i] == nil {
		w.accumulators[i] = w.newAccumulator(i)
	}
	c.accumulator = w.accumulators[i]
	if m == WriteOnce {
		return c
	}
	rows := c.Rows
	if m == Rewrite && c.Dense() {
		rows = min(rows, c.populateRows())
	}
	if rows > 0 && !c.makeWritable(0, rows) {
		return c.Buffered() // large writes are faster than one page fault per page
	}
	c.populated = &rows
	return c
}

// Columns opens all columns of the table in mode Random.
func (w *Writer) Columns() []ColumnWriter {
	out := make([]ColumnWriter, len(w.table.Columns))
	for i := range out {
		out[i] = w.column(i)
	}
	return out
}

// column returns the i-th column without a mode.
func (w *Writer) column(i int) ColumnWriter {
	t := w.table.Columns[i]
	c := ColumnWriter{Column: t, Rows: w.table.Rows, step: w.strides[i] / t.DType.Size()}
	if w.table.Rows > 0 {
		end := w.offsets[i] + (w.table.Rows-1)*w.strides[i] + t.values()*t.DType.Size()
		c.data = w.data.Bytes()[w.offsets[i]:end:end]
		c.write, c.populate, c.offset = w.data.WriteAt, w.data.Populate, w.offsets[i]
	}
	return c
}

// Feature returns one feature of a column of shape [rows, n] as a plain column. Finish computes the
// checksum of the whole column.
func (c ColumnWriter) Feature(i int64) ColumnWriter { return c.Features(i, 0) }

// Features returns n features of a column of shape [rows, m], starting at feature i, as a column of
// its own. It is a plain column if n is 0.
func (c ColumnWriter) Features(i, n int64) ColumnWriter {
	c.accumulator.deferToEnd()
	c.data = c.data[i*c.DType.Size():]
	c.Width, c.write, c.populate, c.accumulator, c.buffer, c.populated = n, nil, nil, nil, nil, nil
	return c
}

// Dense reports whether the column is plain and contiguous. Only then [Next] returns memory for its
// values.
func (c ColumnWriter) Dense() bool { return c.Width == 0 && c.step == 1 }

// contiguous reports whether there is no gap between the rows of the column.
func (c ColumnWriter) contiguous() bool { return c.step == c.values() }

// populateRows returns the number of rows that are prefaulted at once: those of a huge page, at
// least one.
func (c ColumnWriter) populateRows() int64 { return max(1, bufferBytes/(c.step*c.DType.Size())) }

// makeWritable prefaults stored rows for writing, and reports whether the system supports it.
func (c ColumnWriter) makeWritable(row, rows int64) (ok bool) {
	size := c.DType.Size()
	return c.populate != nil &&
		c.populate(c.offset+row*c.step*size, ((rows-1)*c.step+c.values())*size)
}

// Values returns a column's bytes as values of T, whose size must be that of the column's dtype.
// In any mode but Random and Draft, it leaves checksum and statistics to Finish, which then reads
// the column. To read a column, open it in mode Random.
func Values[T Native](c ColumnWriter) Strided[T] {
	c.accumulator.deferToEnd()
	return values[T](c)
}

func values[T Native](c ColumnWriter) Strided[T] {
	return Strided[T]{Data: cast[T](c.data), Step: c.step, Width: c.values(), Rows: c.Rows}
}

// Next returns memory for 1 to n values of a [ColumnWriter.Dense] column, from row on. They are
// part of the column after [ColumnWriter.Commit]. The memory is valid until the next call for the
// column.
func Next[T Native](c ColumnWriter, row, n int64) []T {
	if c.buffer != nil {
		c.buffer.begin(row)
		free := c.buffer.free()
		return cast[T](free[:min(int64(len(free)), n*c.DType.Size())])
	}
	if p := c.populated; p != nil && row+n > *p {
		rows := min(max(c.populateRows(), row+n-*p), c.Rows-*p)
		c.makeWritable(*p, rows) // otherwise each page causes a page fault
		*p += rows
	}
	return values[T](c).Data[row : row+n]
}

// Commit makes the first n values of the memory that [Next] returned for row part of the column.
func (c ColumnWriter) Commit(row, n int64) {
	if c.buffer != nil {
		c.buffer.commit(row, n)
		return
	}
	size := c.DType.Size()
	if !c.accumulator.add(row, c.data[row*size:(row+n)*size]) {
		c.accumulator.stored(row, n)
	}
}

// minWriteBytes is the smallest number of bytes that are written with a system call. Fewer bytes
// are copied through the mapping.
const minWriteBytes = 64 << 10

// WriteAt copies whole rows, contiguous in src, to the column, from row on. T must be the type in
// which the column is stored.
//
// Large blocks are written with a system call: the kernel copies into pages that are overwritten
// completely without clearing them. Through the mapping each page would be cleared and faulted in
// first. If a write fails, WriteAt copies the values through the mapping, where a page that the
// system cannot allocate is a SIGBUS.
func WriteAt[T Native](c ColumnWriter, row int64, src []T) {
	if len(src) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&src[0])),
		int64(len(src))*int64(unsafe.Sizeof(src[0])))
	if b := c.buffer; b == nil {
		added := c.accumulator.add(row, bytes)
		store(c, row, src, bytes)
		if !added {
			c.accumulator.stored(row, int64(len(src))/c.values())
		}
	} else if b.accepts(row, bytes) {
		b.write(row, bytes)
	} else {
		store(c, row, src, bytes)
		b.stored(row, row+int64(len(src))/c.values(), bytes)
	}
}

// store stores rows; bytes are the bytes of src.
func store[T Native](c ColumnWriter, row int64, src []T, bytes []byte) {
	to := values[T](c)
	switch {
	case to.Contiguous():
		into := to.Data[row*to.Step:][:len(src)]
		at := row * to.Step * int64(unsafe.Sizeof(src[0]))
		if c.write == nil || len(bytes) < minWriteBytes || c.write(bytes, c.offset+at) != nil {
			copy(into, src)
		}
	case to.Width == 1:
		at := row * to.Step
		for _, v := range src {
			to.Data[at] = v
			at += to.Step
		}
	default:
		width := int(to.Width)
		for i := 0; i < len(src); i += width {
			copy(to.Row(row+int64(i/width)), src[i:])
		}
	}
}
