package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// A mover copies some features of a window's samples from mapped columns into the window's block.
type mover interface {
	// move writes the samples from first on into the block. row is the row of the dataset of that
	// sample.
	move(block unsafe.Pointer, row, first int64)
	// ranges returns the memory that a window is read from.
	ranges() []lineRange
}

// numeric are the types that columns are gathered from and into.
type numeric interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// adjacentMover moves columns that are adjacent in each row.
type adjacentMover[S, D numeric] struct {
	Block
	source  layout.Strided[S]
	feature int64 // the first one in the block

	wholeRows    bool // source rows are block rows: one copy a window
	copyRows     bool // values need no conversion: one copy a row
	copyChannels bool // the samples of a channel are adjacent: one copy a channel
}

func newAdjacentMover[S, D numeric](b Block, source layout.Strided[S],
	feature int64) *adjacentMover[S, D] {
	_, same := any(source.Data).([]D)
	return &adjacentMover[S, D]{
		Block: b, source: source, feature: feature,
		wholeRows: same && !b.ChannelsFirst && b.Dilation == 1 && source.Contiguous() &&
			source.Width == b.Features,
		copyRows:     same && !b.ChannelsFirst,
		copyChannels: same && b.ChannelsFirst && b.Dilation == 1 && source.Step == 1,
	}
}

func (m *adjacentMover[S, D]) isMemcpy() bool { return m.wholeRows || m.copyChannels }

func (m *adjacentMover[S, D]) move(block unsafe.Pointer, row, first int64) {
	dst := unsafe.Slice((*D)(block), m.Length*m.Features)
	n := m.Length - first
	switch {
	case m.copyRows:
		for i := range n {
			at := (first+i)*m.Features + m.feature
			copy(dst[at:at+m.source.Width], asType[D](m.source.Row(row+i*m.Dilation)))
		}
	case m.copyChannels:
		at := m.feature * m.Length
		copyValues(dst[at+first:at+m.Length], asType[D](m.source.Data[row:row+n]))
	default:
		m.convert(dst, row, first)
	}
}

// contiguousRows returns the memory of the rows if blocks consist of them as they are.
func (m *adjacentMover[S, D]) contiguousRows() contiguousRows {
	if !m.wholeRows {
		return contiguousRows{}
	}
	var value S
	bytes := m.source.Step * int64(unsafe.Sizeof(value))
	return contiguousRows{unsafe.Pointer(unsafe.SliceData(m.source.Data)), bytes,
		int64(len(m.source.Data)) / m.source.Step}
}

func (m *adjacentMover[S, D]) ranges() []lineRange {
	return []lineRange{newLineRange(m.source, m.Block)}
}

// convert moves value by value.
func (m *adjacentMover[S, D]) convert(dst []D, row, first int64) {
	sample, feature := m.strides()
	for i := range m.Length - first {
		at := (first+i)*sample + m.feature*feature
		for _, v := range m.source.Row(row + i*m.Dilation) {
			dst[at] = D(v)
			at += feature
		}
	}
}

// strides returns the distances between samples and between features of a block, in values.
func (b Block) strides() (sample, feature int64) {
	if b.ChannelsFirst {
		return 1, b.Length
	}
	return b.Features, 1
}

// asType returns values of S as values of D. Only movers whose types are equal call it.
func asType[D, S numeric](values []S) []D {
	return unsafe.Slice((*D)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// halfMover moves a float16 column value by value, because Go has no type for it.
type halfMover[D numeric] struct {
	Block
	source  layout.Strided[layout.Half]
	feature int64
}

func (m *halfMover[D]) move(block unsafe.Pointer, row, first int64) {
	dst := unsafe.Slice((*D)(block), m.Length*m.Features)
	sample, feature := m.strides()
	for i := range m.Length - first {
		at := (first+i)*sample + m.feature*feature
		for _, v := range m.source.Row(row + i*m.Dilation) {
			dst[at] = D(v.Float32())
			at += feature
		}
	}
}

func (m *halfMover[D]) ranges() []lineRange { return []lineRange{newLineRange(m.source, m.Block)} }
