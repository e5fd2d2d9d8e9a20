package gather

import (
	"encoding/binary"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/bitset"
)

// Mask writes blocks that report which samples of a part have their bit set. It is immutable and safe
// for concurrent use.
type Mask struct {
	block    Block
	bytes    int64 // of a block
	features []bitset.Bits
	hasBits  bool
	// observed is true for a mask of float32 that is 1 for samples whose bit is not set, and false for
	// a mask of bool that is 1 for those whose bit is set.
	observed bool
}

// NewObservedMask returns a mask of float32: 0 for samples whose bit is set and for padding, else 1.
// Each feature of a block has bits, or nil if none is set.
func NewObservedMask(features []bitset.Bits, b Block) *Mask {
	m := NewMissingMask(features, b)
	m.observed, m.bytes = true, 4*m.bytes
	return m
}

// NewMissingMask returns a mask of bool: 1 for samples whose bit is set, else 0, also for padding. Each
// feature of a block has bits, or nil if none is set.
func NewMissingMask(features []bitset.Bits, b Block) *Mask {
	m := &Mask{block: b, bytes: b.Length * b.Features, features: features}
	for _, bits := range features {
		m.hasBits = m.hasBits || bits != nil
	}
	return m
}

// BlockBytes returns the size of a block, in bytes.
func (m *Mask) BlockBytes() int64 { return m.bytes }

// Copy writes the block of a window: its first padding samples are padding, and the others begin at a
// row of the dataset. block has BlockBytes bytes, aligned for the dtype.
func (m *Mask) Copy(block []byte, row, padding int64) {
	block = block[:m.bytes:m.bytes]
	if padding > 0 || !m.hasBits && !m.observed {
		clear(block)
	}
	switch {
	case padding >= m.block.Length || len(block) == 0 || !m.hasBits && !m.observed:
	case m.observed:
		expand(m, asSlice[float32](block), row, padding, isNotSet)
	default:
		expand(m, block, row, padding, isSet)
	}
}

// CopyNext is Copy without padding, for a window that begins step rows after that of the block before
// this one. It copies the samples that both have.
func (m *Mask) CopyNext(block, before []byte, row, step int64) {
	if step <= 0 || step >= m.block.Length || !m.hasBits || m.block.ChannelsFirst ||
		m.block.Dilation > 1 || m.block.Features == 1 { // the bits of one feature take less time than a copy
		m.Copy(block, row, 0)
		return
	}
	// Not copyValues: what REP MOVSB writes is not in the first caches, from which the next window copies.
	n := copy(block[:m.bytes], before[step*m.bytes/m.block.Length:m.bytes])
	if m.observed {
		expandRows(m, asSlice[float32](block[n:m.bytes]), row+m.block.Length-step, isNotSet)
	} else {
		expandRows(m, block[n:m.bytes], row+m.block.Length-step, isSet)
	}
}

// flag is the type of the values of a mask.
type flag interface{ float32 | uint8 }

// flags are the values of bits.
type flags[T flag] struct {
	of    [256][8]T // for each byte, of its eight bits
	unset [1024]T   // of bits that are not set
	// writesUnset8 is true if writeUnset8 writes these values.
	writesUnset8 bool
}

// isSet and isNotSet have 1 for bits that are set, or for those that are not, else 0.
var (
	isSet    = flagsOf[uint8](1)
	isNotSet = flagsOf[float32](0)
)

// flagsOf returns 1 for bits that are equal to a bit, else 0.
func flagsOf[T flag](bit int) *flags[T] {
	f := &flags[T]{}
	for b := range f.of {
		for i := range f.of[b] {
			if b>>i&1 == bit {
				f.of[b][i] = 1
			}
		}
	}
	for i := range f.unset {
		f.unset[i] = f.of[0][0]
	}
	_, isFloat := any(f).(*flags[float32])
	f.writesUnset8 = isFloat && bit == 0 && hasWriteUnset8
	return f
}

// expand writes the values of the samples from first on, whose row is given.
func expand[T flag](m *Mask, block []T, row, first int64, values *flags[T]) {
	length, features := m.block.Length, m.block.Features
	switch {
	case !m.hasBits && (first == 0 || !m.block.ChannelsFirst):
		values.writeUnset(block[first*features:])
	case m.block.ChannelsFirst || features == 1:
		for f, bits := range m.features {
			channel := block[int64(f)*length:][first:length]
			switch {
			case bits == nil:
				values.writeUnset(channel)
			case m.block.Dilation == 1:
				expandBits(channel, bits, row, values)
			default:
				for i := range channel {
					channel[i] = values.of[bits.At(row+int64(i)*m.block.Dilation)][0]
				}
			}
		}
	default:
		expandRows(m, block[first*features:], row, values)
	}
}

// writeUnset writes the values of bits that are not set.
func (f *flags[T]) writeUnset(dst []T) {
	for len(dst) > 0 {
		n := min(len(dst), len(f.unset))
		copyValues(dst[:n], f.unset[:n])
		dst = dst[n:]
	}
}

// rowsOf8 has a byte for each of 56 rows of eight bits.
type rowsOf8 [7]uint64

// write writes n rows of eight values, step values apart.
func (f *flags[T]) write(dst []T, step, n int, rows *rowsOf8) {
	switch {
	case n <= 0:
	case f.writesUnset8:
		_ = dst[(n-1)*step+7]
		writeUnset8(unsafe.Pointer(unsafe.SliceData(dst)), int64(step)*4, unsafe.Pointer(rows), int64(n))
	default:
		for i := range n {
			*(*[8]T)(dst[i*step:]) = f.of[rows.at(i)]
		}
	}
}

// at returns the bits of a row.
func (r *rowsOf8) at(row int) byte { return byte(r[row>>3] >> (8 * (row & 7))) }

// expandBits writes the values of as many bits as dst has elements, from a row on.
func expandBits[T flag](dst []T, bits bitset.Bits, row int64, values *flags[T]) {
	var rows rowsOf8
	for bits = bits[row>>3:]; len(dst) > 0; bits = bits[7:] {
		rows[0] = binary.LittleEndian.Uint64(bits) >> (row & 7)
		n := min(len(dst)/8, 7)
		values.write(dst, 8, n, &rows)
		if dst = dst[8*n:]; n < 7 {
			copy(dst, values.of[rows.at(n)][:])
			return
		}
	}
}

// wordRows is the number of rows whose bits a word has, whatever the first one is.
const wordRows = 56

// expandRows writes rows of several features, from a row of the dataset on.
func expandRows[T flag](m *Mask, dst []T, row int64, values *flags[T]) {
	features := len(m.features)
	for n := len(dst) / features; n > 0; n -= wordRows {
		rows := min(n, wordRows)
		// From the last features to the first ones: if they are not eight, their values reach into the
		// next row, whose first features are written later.
		for f := (features - 1) &^ 7; f >= 0; f -= 8 {
			group := m.features[f:min(f+8, features)]
			var words [8]uint64
			for i, bits := range group {
				if bits != nil {
					words[i] = wordOf(bits, row, m.block.Dilation, rows)
				}
			}
			expandGroup(dst[f:], features, len(group), rows, &words, values)
		}
		dst, row = dst[rows*features:], row+int64(rows)*m.block.Dilation
	}
}

// expandGroup writes rows of up to eight features, step values apart, from a word of bits of each.
func expandGroup[T flag](dst []T, step, features, n int, words *[8]uint64, values *flags[T]) {
	a, b, c, d := words[0], words[1], words[2], words[3]
	e, f, g, h := words[4], words[5], words[6], words[7]
	var rows rowsOf8
	for i := range (n + 7) / 8 {
		rows[i] = transpose(a&0xff | b&0xff<<8 | c&0xff<<16 | d&0xff<<24 | e&0xff<<32 | f&0xff<<40 |
			g&0xff<<48 | h<<56)
		a, b, c, d, e, f, g, h = a>>8, b>>8, c>>8, d>>8, e>>8, f>>8, g>>8, h>>8
	}
	whole := min(n, (len(dst)-8+step)/step) // rows with room for eight values
	values.write(dst, step, whole, &rows)
	for i := max(whole, 0); i < n; i++ {
		copy(dst[i*step:], values.of[rows.at(i)][:features])
	}
}

// transpose transposes 8 × 8 bits (H. S. Warren, Hacker's Delight, 2nd ed., section 7–3).
func transpose(square uint64) uint64 {
	t := (square ^ square>>7) & 0x00aa00aa00aa00aa
	square ^= t ^ t<<7
	t = (square ^ square>>14) & 0x0000cccc0000cccc
	square ^= t ^ t<<14
	t = (square ^ square>>28) & 0x00000000f0f0f0f0
	return square ^ t ^ t<<28
}

// wordOf returns the bits of so many rows, which begin at one and are dilation apart.
func wordOf(bits bitset.Bits, row, dilation int64, rows int) (word uint64) {
	if dilation == 1 {
		return binary.LittleEndian.Uint64(bits[row>>3:]) >> (row & 7)
	}
	for i := range rows {
		word |= uint64(bits.At(row+int64(i)*dilation)) << i
	}
	return word
}

// Prefetch fetches the cache lines of the bits of a window whose first sample is at a row, without
// waiting. The row may be outside the dataset.
func (m *Mask) Prefetch(row int64) {
	lines := min(((m.block.Length-1)*m.block.Dilation+1)/(8*lineBytes)+1, maxLines)
	for _, bits := range m.features {
		// no pointer of Go may point outside its memory
		if at := row >> 3; uint64(at) < uint64(len(bits)) {
			prefetch(unsafe.Pointer(&bits[at]), lineBytes, lines)
		}
	}
}
