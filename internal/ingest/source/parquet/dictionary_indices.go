package parquet

import (
	"encoding/binary"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// indexDecoder decodes the dictionary indices of a data page. They are Parquet's hybrid of RLE and
// bit-packing: runs of one index, and runs of indices packed to a bit width.
type indexDecoder struct {
	data      []byte // not decoded yet; its capacity is at least 8 bytes larger
	width     int    // bits of an index
	remaining int64  // values of the run that are not decoded yet
	index     uint64 // index of an RLE run
	bit       uint   // position in data of the next packed index
	packed    bool
}

// maxIndexBits is the largest supported bit width. Two indices of this width, at any bit of a byte,
// fit in 8 bytes.
const maxIndexBits = 28

// newIndexDecoder returns a decoder for the indices of a page, whose first byte is the bit width.
func newIndexDecoder(page []byte) (*indexDecoder, error) {
	if len(page) < 1 || page[0] < 1 || page[0] > maxIndexBits {
		return nil, errUnsupported
	}
	return &indexDecoder{data: page[1:], width: int(page[0])}, nil
}

// nextRun begins the next run.
func (x *indexDecoder) nextRun() error {
	if x.packed { // the run before is fully decoded
		x.data, x.bit = x.data[x.bit/8:], 0
	}
	head, n := binary.Uvarint(x.data)
	if n <= 0 || head>>1 == 0 || head > 1<<32 {
		return errUnsupported
	}
	x.data = x.data[n:]
	if x.packed = head&1 != 0; x.packed {
		x.remaining = int64(head>>1) * 8
		if x.remaining/8*int64(x.width) > int64(len(x.data)) {
			return errUnsupported
		}
		return nil
	}
	size := (x.width + 7) / 8
	if size > len(x.data) {
		return errUnsupported
	}
	var word [8]byte
	copy(word[:], x.data[:size])
	x.remaining, x.index, x.data = int64(head>>1), binary.LittleEndian.Uint64(word[:]),
		x.data[size:]
	return nil
}

// atEnd reports whether the page has no more values. The values that pad the last packed group to
// eight do not count.
func (x *indexDecoder) atEnd() bool {
	if x.packed {
		return x.remaining < 8 && (x.bit+uint(x.remaining)*uint(x.width))/8 == uint(len(x.data))
	}
	return x.remaining == 0 && len(x.data) == 0
}

// decodeIndexed decodes len(to) indices and writes the dictionary values at these indices.
func decodeIndexed[S column.Storable](x *indexDecoder, to, words []S) error {
	for len(to) > 0 {
		if x.remaining == 0 {
			if err := x.nextRun(); err != nil {
				return err
			}
		}
		part := to[:min(int64(len(to)), x.remaining)]
		if x.packed {
			if !unpackIndexed(part, words, x.data[:len(x.data)+8], x.bit, uint(x.width)) {
				return errUnsupported
			}
			x.bit += uint(len(part)) * uint(x.width)
		} else {
			if x.index >= uint64(len(words)) {
				return errUnsupported
			}
			for i, v := 0, words[x.index]; i < len(part); i++ {
				part[i] = v
			}
		}
		x.remaining, to = x.remaining-int64(len(part)), to[len(part):]
	}
	return nil
}

// unpackIndexed decodes len(to) packed indices, from a bit of data on, and writes the dictionary
// values at these indices. ok is false if an index is outside the dictionary.
func unpackIndexed[S column.Storable](to, words []S, data []byte, bit, width uint) (ok bool) {
	mask := uint64(1)<<(width&63) - 1
	i := 0
	if width <= 14 { // four indices, at any bit of a byte, fit in 8 bytes
		for n := uint64(len(words)); i+4 <= len(to); i += 4 {
			x := binary.LittleEndian.Uint64(data[bit/8:]) >> (bit & 7)
			a := x & mask
			x >>= width & 63
			b := x & mask
			x >>= width & 63
			c := x & mask
			d := x >> (width & 63) & mask
			if a >= n || b >= n || c >= n || d >= n {
				return false
			}
			four := to[i : i+4 : i+4]
			four[0], four[1], four[2], four[3] = words[a], words[b], words[c], words[d]
			bit += 4 * width
		}
	}
	for ; i < len(to); i++ {
		at := binary.LittleEndian.Uint64(data[bit/8:]) >> (bit & 7) & mask
		if at >= uint64(len(words)) {
			return false
		}
		to[i] = words[at]
		bit += width
	}
	return true
}
