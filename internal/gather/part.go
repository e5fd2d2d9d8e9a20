package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// Block is the shape of one window's part.
type Block struct {
	Length, Features int64   // number of samples, and of values of a sample
	ChannelsFirst    bool    // [features, samples] in place of [samples, features]
	Dilation         int64   // rows between samples
	Pad              float64 // value that Pad writes; the dtype must represent it
}

// Part copies one part of windows. It is immutable and safe for concurrent use.
type Part struct {
	block  Block
	bytes  int64  // of a block
	pad    []byte // value of padding in the dtype; nil if it is 0
	movers []mover
	rows   contiguousRows // what whole blocks are copied from, if one copy makes one
	ranges []lineRange
}

// NewPart returns a part of columns, whose features follow each other in this order. Values of
// columns of other dtypes are converted to dtype, which must be float32, float64, int32, int64 or
// the dtype of all columns; else the error wraps [layout.ErrSchema].
func NewPart(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType,
	b Block) (*Part, error) {
	movers, err := newMovers(d, columns, dtype, b)
	if err != nil {
		return nil, err
	}
	p := &Part{block: b, bytes: b.Length * b.Features * dtype.Size(), movers: movers}
	if b.Pad != 0 {
		p.pad = valueBytes(dtype, b.Pad)
	}
	if m, ok := movers[0].(interface{ contiguousRows() contiguousRows }); ok {
		p.rows = m.contiguousRows()
	}
	for _, m := range movers {
		p.ranges = append(p.ranges, m.ranges()...)
	}
	return p, nil
}

// BlockBytes returns the size of a block, in bytes.
func (p *Part) BlockBytes() int64 { return p.bytes }

// IsMemcpy reports whether rows or channels are copied as they lie, neither interleaved nor
// converted.
func (p *Part) IsMemcpy() bool {
	for _, m := range p.movers {
		if m, ok := m.(interface{ isMemcpy() bool }); !ok || !m.isMemcpy() {
			return false
		}
	}
	return true
}

// Copy writes one window's block: zeros for its first padding samples, which Pad replaces, then the
// samples that begin at a row of the dataset. block has BlockBytes bytes, aligned for the dtype.
func (p *Part) Copy(block []byte, row, padding int64) {
	block = block[:p.bytes:p.bytes]
	if padding > 0 {
		clear(block)
	}
	if padding >= p.block.Length || len(block) == 0 {
		return
	}
	if p.rows.base != nil {
		p.rows.copy(unsafe.Pointer(&block[padding*p.rows.rowBytes]), row, p.block.Length-padding)
		return
	}
	for _, m := range p.movers {
		m.move(unsafe.Pointer(unsafe.SliceData(block)), row, padding)
	}
}

// Prefetch fetches the cache lines of a window whose first sample is at a row, without waiting. Any
// row does no harm.
func (p *Part) Prefetch(row int64) {
	for i := range p.ranges {
		p.ranges[i].prefetch(row)
	}
}
