package layout

import "unsafe"

// Mode says how the values of a column are written. It is chosen when the column is opened, by [Writer.Column].
type Mode int

const (
	// Random is for values that are read and written in any order, any number of times. Finish reads the column once more for its checksum
	// and statistics.
	Random Mode = iota
	// WriteOnce is for final values: each row is written once and does not change any more. Checksum and statistics are computed on the way,
	// which spares Finish to read the column.
	WriteOnce
	// Draft is for values that are written once, through [ColumnWriter.Buffered], and then replaced where they are. Their pages are made
	// writable through the mapping at once, which takes a fraction of the time that it takes later.
	Draft
	// Rewrite is for final values that one goroutine writes over other values, row after row. Their pages are made writable through the
	// mapping piece by piece.
	Rewrite
	// ReadRewrite is Rewrite for a column whose old values are read before: all pages are made writable at once, because pages that were read
	// first take longer.
	ReadRewrite
)

// ColumnWriter writes one column of a generation. It is valid until Finish or Abort, and safe for concurrent use on different rows, except
// for one of mode Rewrite or ReadRewrite, and one of [ColumnWriter.Buffered].
type ColumnWriter struct {
	Column
	Rows int64
	step int64 // values between the beginnings of neighbouring rows
	data []byte
	// write writes bytes at an offset of the file, in which data begins at offset; nil if they must go through data.
	write  func(b []byte, at int64) error
	offset int64
	// populate makes bytes of the file writable through data.
	populate func(at, n int64) (ok bool)
	// draft says that pages are made writable as soon as they are written.
	draft bool
	// sums adds up what is written; nil if Finish does.
	accumulator *accumulator
	// buffer gathers what is written; nil if it is stored at once.
	buffer *columnBuffer
	// populated is how many rows are writable through the mapping; nil if nobody counts.
	populated *int64
}

// Column opens the i-th column of the table. One column is not opened by several goroutines at once.
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
		return c.Buffered() // a large write is faster than a page fault for each page
	}
	c.populated = &rows
	return c
}

// column is the i-th column without a mode.
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

// Feature is one feature of a column of shape [rows, n] as a plain column. Finish computes the checksum of the whole column.
func (c ColumnWriter) Feature(i int64) ColumnWriter { return c.Features(i, 0) }

// Features are n features of a column of shape [rows, m], from i on, as a column of its own: a plain one if n is 0.
func (c ColumnWriter) Features(i, n int64) ColumnWriter {
	c.accumulator.deferToEnd()
	c.data = c.data[i*c.DType.Size():]
	c.Width, c.write, c.populate, c.accumulator, c.buffer, c.populated = n, nil, nil, nil, nil, nil
	return c
}

// Dense reports whether the column is plain and its values follow each other without gaps: then [Next] gives memory for them.
func (c ColumnWriter) Dense() bool { return c.Width == 0 && c.step == 1 }

// contiguous reports whether the rows of the column follow each other without gaps.
func (c ColumnWriter) contiguous() bool { return c.step == c.values() }

// populateRows is how many rows are made writable at once: those of a large page, at least one.
func (c ColumnWriter) populateRows() int64 { return max(1, bufferBytes/(c.step*c.DType.Size())) }

// makeWritable makes rows that are stored writable through the mapping, if the system can.
func (c ColumnWriter) makeWritable(row, rows int64) (ok bool) {
	size := c.DType.Size()
	return c.populate != nil && c.populate(c.offset+row*c.step*size, ((rows-1)*c.step+c.values())*size)
}

// Values returns a column's bytes as values of T, whose size must be that of the column's dtype. It is for reading, and for writing in mode
// Random: in other modes it leaves checksum and statistics to Finish.
func Values[T Native](c ColumnWriter) Strided[T] {
	c.accumulator.deferToEnd()
	return values[T](c)
}

func values[T Native](c ColumnWriter) Strided[T] {
	return Strided[T]{Data: cast[T](c.data), Step: c.step, Width: c.values(), Rows: c.Rows}
}

// Next returns memory for values of a [ColumnWriter.Dense] column, from a row on: at most n, at least one. They are part of the column after
// [ColumnWriter.Commit]. The memory is valid until the next call for the column.
func Next[T Native](c ColumnWriter, row, n int64) []T {
	if c.buffer != nil {
		c.buffer.begin(row)
		free := c.buffer.free()
		return cast[T](free[:min(int64(len(free)), n*c.DType.Size())])
	}
	if p := c.populated; p != nil && row+n > *p {
		rows := min(max(c.populateRows(), row+n-*p), c.Rows-*p)
		c.makeWritable(*p, rows) // else each page is a fault
		*p += rows
	}
	return values[T](c).Data[row : row+n]
}

// Commit makes n values, which are at the beginning of the memory that [Next] gave for the row, part of the column.
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

// minWriteBytes is from how many bytes on values are written to the file and not through its mapping.
const minWriteBytes = 64 << 10

// WriteAt copies whole rows, which are dense in src, to a row of the column and those behind it. T must be what the column is stored as.
//
// Large pieces go to the file by a write: into pages that it fills as a whole the kernel copies at once, while those that are
// touched through the mapping are cleared and faulted in one by one before. If a write fails, the values are copied through the mapping,
// in which a page that the system does not give is a fault as everywhere.
func WriteAt[T Native](c ColumnWriter, row int64, src []T) {
	if len(src) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), int64(len(src))*int64(unsafe.Sizeof(src[0])))
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

// store stores rows; bytes are those of src.
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
