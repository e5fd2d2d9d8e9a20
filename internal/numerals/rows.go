package numerals

import "unsafe"

// Lead is the number of bytes that must come before the first cell of a text. Pad is the capacity
// that a text must have after its end, in bytes.
const (
	Lead = 24
	Pad  = 128
)

// Kind is the type of the values of a column.
type Kind uint8

// Kinds of columns. Read stops at the cells of Other columns.
const (
	Other Kind = iota
	Float64
	Int64
)

// Column is one column of the text.
type Column struct {
	kind Kind
	stop byte
	step int            // bytes between the numbers of consecutive rows
	to   unsafe.Pointer // where the number of row 0 is written
}

// Rows parses rows of cells. It is not safe for concurrent use.
type Rows struct {
	// At is the offset of the next byte. There begins the cell of the column Column in row Row.
	// Start is the offset of the row.
	At, Column, Row, Start int

	text    *byte
	marks   *uint64
	columns *Column
	end     *Column // after the last column
	rows    int
	point   uint64

	words []uint64
	width []Column
}

// Reset sets the number of columns. Cells end with delim, those of the last column with a line
// feed.
func (r *Rows) Reset(columns int, delim, point byte) {
	r.width = make([]Column, columns, columns+1)
	for i := range r.width {
		r.width[i].stop = delim
	}
	r.width[columns-1].stop = '\n'
	r.columns, r.end = unsafe.SliceData(r.width), unsafe.SliceData(r.width[columns:columns+1])
	r.point = uint64(point)
}

// SetTarget makes Read write the number of row i of a column to to[i*step].
func SetTarget[T int64 | float64](r *Rows, column int, to []T, step int) {
	c := &r.width[column]
	var zero T
	c.kind = Int64
	if _, ok := any(zero).(float64); ok {
		c.kind = Float64
	}
	_ = to[(r.rows-1)*step] // the assembly checks no bounds
	c.step, c.to = step*8, unsafe.Pointer(unsafe.SliceData(to))
}

// StopAt makes Read stop at the cells of a column.
func (r *Rows) StopAt(column int) { r.width[column].kind = Other }

// Reads reports whether Read parses the cells of a column, and does not stop at them.
func (r *Rows) Reads(column int) bool { return r.width[column].kind != Other }

// Begin sets the text, which has a number of rows and ends with a line feed. It overwrites Pad
// bytes after the text and undoes all calls of [SetTarget].
func (r *Rows) Begin(text []byte, rows int) {
	clear(text[len(text) : len(text)+Pad]) // bytes that are not digits
	blocks := len(text)/64 + 1
	if cap(r.words) < blocks+1 {
		r.words = make([]uint64, blocks+1+blocks/16)
	}
	r.text, r.marks, r.rows = unsafe.SliceData(text), unsafe.SliceData(r.words), rows
	mark(r.marks, r.text, blocks)
	for i := range r.width {
		r.width[i].kind = Other
	}
}

// Read parses cells until one is not a plain number or the last row is read. Then Row and Column
// are the place of that cell, and At is its offset. At must be at least Lead.
func (r *Rows) Read() {
	read(r)
}
