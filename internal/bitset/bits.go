// Package bitset stores one bit for each row of a feature of a column.
//
// The mask of a window is made from the bits of its rows, eight values at a time, whatever the share
// of set bits is. The bits of a float32 column take 1/32 of the memory of its values.
package bitset

// Bits has the bit of row i in byte i/8, the lowest first. It has 8 bytes more than that, so that 8
// bytes can be read from any byte with bits on. Reads are safe for concurrent use.
type Bits []byte

// New returns the bits of so many rows. None is set.
func New(rows int64) Bits { return make(Bits, (rows+7)/8+8) }

// Set sets the bits of the rows [from, to).
func (b Bits) Set(from, to int64) {
	for ; from < to && from&7 != 0; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
	for ; to-from >= 8; from += 8 {
		b[from>>3] = 0xff
	}
	for ; from < to; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
}

// At returns the bit of a row, 0 or 1.
func (b Bits) At(row int64) byte { return b[row>>3] >> (row & 7) & 1 }
