package gather

import (
	"encoding/binary"
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// Pad writes the value of padding to the first padding samples of a window's block, in which Copy
// leaves zeros. Call it after MarkMissing and ReplaceMissing, because padding is not missing, even if
// its value is NaN.
func (p *Part) Pad(block []byte, padding int64) {
	if padding <= 0 || p.pad == nil || len(block) == 0 {
		return
	}
	size := int64(len(p.pad))
	padding = min(padding, p.block.Length)
	if !p.block.ChannelsFirst {
		repeat(block[:padding*p.block.Features*size], p.pad)
		return
	}
	for f := range p.block.Features {
		repeat(block[f*p.block.Length*size:][:padding*size], p.pad)
	}
}

// repeat fills bytes with copies of a value.
func repeat(b, value []byte) {
	for n := copy(b, value); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// valueBytes returns v as bytes of the dtype, which must be able to represent it. The bits of NaN are
// those that NumPy has.
func valueBytes(dtype layout.DType, v float64) []byte {
	if math.IsNaN(v) {
		v = math.Float64frombits(0x7ff8 << 48)
	}
	b := make([]byte, 8)
	switch dtype {
	case layout.Float16:
		asSlice[layout.Half](b)[0] = layout.HalfOf(v)
	case layout.Float32:
		asSlice[float32](b)[0] = float32(v)
	case layout.Float64:
		asSlice[float64](b)[0] = v
	case layout.Uint64: // values from 2^63 on fit no int64
		binary.LittleEndian.PutUint64(b, uint64(v))
	default:
		binary.LittleEndian.PutUint64(b, uint64(int64(v)))
	}
	return b[:dtype.Size()]
}
