package numerals

import "unsafe"

// Lead is how many bytes of the text come before the first cell that is read, and Pad how many
// bytes of capacity behind its end.
const (
	Lead = 24
	Pad  = 128
)

// Kind says what the cells of a column are read as.
type Kind uint8

// Kinds of columns. Read stops at the cells of Other ones.
const (
	Other Kind = iota
	Float64
	Int64
)

// Column is one column of the text.
type Column struct {
	kind Kind
	stop byte
	step int            // bytes between the numbers of neighbouring rows
	to   unsafe.Pointer // the number of row 0
}

// Rows reads rows of cells. It is not safe for concurrent use.
type Rows struct {
	// At is the byte that is read next; the cell in Column of Row begins there, and Row itself at
	// Start.
	At, Column, Row, Start int

	text    *byte
	marks   *uint64
	columns *Column
	end     *Column // behind the last
	rows    int
	point   uint64

	words []uint64
	width []Column
}

// Reset turns to other columns, of which the cells end with delim and those of the last with a line
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

// To lets the numbers of a column go to every step-th value of to, of which the first is that of
// row 0.
func To[T int64 | float64](r *Rows, column int, to []T, step int) {
	c := &r.width[column]
	var zero T
	c.kind = Int64
	if _, ok := any(zero).(float64); ok {
		c.kind = Float64
	}
	_ = to[(r.rows-1)*step] // the assembly checks nothing
	c.step, c.to = step*8, unsafe.Pointer(unsafe.SliceData(to))
}

// Leave lets Read stop at the cells of a column.
func (r *Rows) Leave(column int) { r.width[column].kind = Other }

// Reads tells whether Read does anything with the cells of a column.
func (r *Rows) Reads(column int) bool { return r.width[column].kind != Other }

// Begin turns to a text of so many rows that ends with a line feed, and overwrites the padding
// behind it. What was told by [To] is forgotten.
func (r *Rows) Begin(text []byte, rows int) {
	clear(text[len(text) : len(text)+Pad]) // no digits
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

// Read reads cells until one is no plain number or the last row is read. Row and Column say then
// which one that is, and At where it begins. At must be Lead at least.
func (r *Rows) Read() {
	read(r)
}
