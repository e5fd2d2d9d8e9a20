package feed

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// A mover copies some features of a window's samples from mapped columns into the window's block of
// a part, which is n samples by all features (or features by samples).
type mover interface {
	// move fills samples [from, length) of the block; row is the dataset row of sample from.
	move(block unsafe.Pointer, row, from int64)
	// spans are what a window is read from.
	spans() []span
}

// target is the block that movers fill: its shape and order.
type target struct {
	length, features int64 // samples and features of a block
	channelsFirst    bool
	dilation         int64 // rows between samples
}

// numeric are the types that columns are gathered from and into.
type numeric interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// blockMover moves columns that stand side by side, row by row.
type blockMover[S, D numeric] struct {
	target
	source  layout.Strided[S]
	feature int64 // the first one in the block
	whole   bool  // source rows are block rows: one copy a window
	rows    bool  // values need no conversion: one copy a row
	plain   bool  // a channel's samples lie side by side: one copy a channel
}

func newBlockMover[S, D numeric](t target, source layout.Strided[S],
	feature int64) *blockMover[S, D] {
	_, same := any(source.Data).([]D)
	return &blockMover[S, D]{
		target: t, source: source, feature: feature,
		whole: same && !t.channelsFirst && t.dilation == 1 && source.Contiguous() &&
			source.Width == t.features,
		rows:  same && !t.channelsFirst,
		plain: same && t.channelsFirst && t.dilation == 1 && source.Step == 1,
	}
}

func (m *blockMover[S, D]) move(block unsafe.Pointer, row, from int64) {
	dst := unsafe.Slice((*D)(block), m.length*m.features)
	n := m.length - from
	switch {
	case m.rows:
		for i := range n {
			at := (from+i)*m.features + m.feature
			copy(dst[at:at+m.source.Width], same[D](m.source.Row(row+i*m.dilation)))
		}
	case m.plain:
		at := m.feature * m.length
		moveAll(dst[at+from:at+m.length], same[D](m.source.Data[row:row+n]))
	default:
		m.convert(dst, row, from)
	}
}

// piece is where the rows are, if they are what blocks are made of as they are.
func (m *blockMover[S, D]) piece() piece {
	if !m.whole {
		return piece{}
	}
	var value S
	bytes := m.source.Step * int64(unsafe.Sizeof(value))
	return piece{unsafe.Pointer(unsafe.SliceData(m.source.Data)), bytes,
		int64(len(m.source.Data)) / m.source.Step}
}

func (m *blockMover[S, D]) spans() []span { return []span{spanOf(m.source, m.target)} }

// convert moves value by value.
func (m *blockMover[S, D]) convert(dst []D, row, from int64) {
	sample, feature := m.features, int64(1)
	if m.channelsFirst {
		sample, feature = 1, m.length
	}
	for i := range m.length - from {
		at := (from+i)*sample + m.feature*feature
		for _, v := range m.source.Row(row + i*m.dilation) {
			dst[at] = D(v)
			at += feature
		}
	}
}

// same sees values of S as what they are: values of D. Only movers whose types are equal call it.
func same[D, S numeric](values []S) []D {
	return unsafe.Slice((*D)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// lanes is how many columns a laneMover reads at once. A column at a time writes every cache line
// of the block once per column and is five times slower (measured, research/measurements.md §9).
const lanes = 8

// laneMover moves columns that lie apart, several at once, so that each row of the block is written
// in one go.
type laneMover[S, D numeric] struct {
	target
	sources [][]S
	feature int64
	first   *[lanes]unsafe.Pointer // of the sources' values, where interleave8 moves them
}

func newLaneMover[S, D numeric](t target, sources [][]S, feature int64) *laneMover[S, D] {
	m := &laneMover[S, D]{target: t, sources: sources, feature: feature}
	var value D
	if _, same := any(sources).([][]D); same && unsafe.Sizeof(value) == 4 &&
		len(sources) == lanes && t.dilation == 1 && canInterleave {
		m.first = new([lanes]unsafe.Pointer)
		for i, s := range sources {
			m.first[i] = unsafe.Pointer(unsafe.SliceData(s))
		}
	}
	return m
}

func (m *laneMover[S, D]) move(block unsafe.Pointer, row, from int64) {
	dst := unsafe.Slice((*D)(block), m.length*m.features)
	n := m.length - from
	if m.first != nil {
		moved := m.interleave(dst, row, from, n&^3)
		row, from, n = row+moved, from+moved, n-moved
	}
	if len(m.sources) == lanes && m.dilation == 1 {
		m.move8(dst[from*m.features:], row, n)
		return
	}
	for i := range n {
		out := dst[(from+i)*m.features+m.feature:]
		out = out[:len(m.sources)]
		at := row + i*m.dilation
		for j, s := range m.sources {
			out[j] = D(s[at])
		}
	}
}

// interleave moves n rows, a multiple of 4, after it has checked what move8 is checked for by the
// language.
func (m *laneMover[S, D]) interleave(dst []D, row, from, n int64) int64 {
	if n == 0 {
		return 0
	}
	for _, s := range m.sources {
		_ = s[row : row+n]
	}
	at := from*m.features + m.feature
	_ = dst[at : at+(n-1)*m.features+lanes]
	interleave8(unsafe.Pointer(&dst[at]), m.features*4, m.first, row*4, n)
	return n
}

func (m *laneMover[S, D]) spans() []span {
	out := make([]span, len(m.sources))
	for i, s := range m.sources {
		out[i] = spanOf(layout.Strided[S]{Data: s, Step: 1, Width: 1}, m.target)
	}
	return out
}

// move8 keeps eight columns in registers.
func (m *laneMover[S, D]) move8(dst []D, row, n int64) {
	s := m.sources
	a, b, c, d := s[0][row:row+n], s[1][row:row+n], s[2][row:row+n], s[3][row:row+n]
	e, f, g, h := s[4][row:row+n], s[5][row:row+n], s[6][row:row+n], s[7][row:row+n]
	b, c, d, e, f, g, h = b[:len(a)], c[:len(a)], d[:len(a)], e[:len(a)], f[:len(a)],
		g[:len(a)], h[:len(a)]
	at := m.feature
	for i := range a {
		out := dst[at : at+lanes : at+lanes]
		out[0], out[1], out[2], out[3] = D(a[i]), D(b[i]), D(c[i]), D(d[i])
		out[4], out[5], out[6], out[7] = D(e[i]), D(f[i]), D(g[i]), D(h[i])
		at += m.features
	}
}

// halfMover moves a float16 column value by value: no Go type converts it.
type halfMover[D float32 | float64] struct {
	target
	source  layout.Strided[layout.Half]
	feature int64
}

func (m *halfMover[D]) move(block unsafe.Pointer, row, from int64) {
	dst := unsafe.Slice((*D)(block), m.length*m.features)
	sample, feature := m.features, int64(1)
	if m.channelsFirst {
		sample, feature = 1, m.length
	}
	for i := range m.length - from {
		at := (from+i)*sample + m.feature*feature
		for _, v := range m.source.Row(row + i*m.dilation) {
			dst[at] = D(v.Float32())
			at += feature
		}
	}
}

func (m *halfMover[D]) spans() []span { return []span{spanOf(m.source, m.target)} }
