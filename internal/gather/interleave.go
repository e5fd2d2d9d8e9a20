package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// maxInterleaved is how many columns are interleaved at once. A column at a time writes every cache
// line of the block once per column and takes five times as long.
const maxInterleaved = 8

// interleaver moves columns that are not adjacent, several at once, so that it writes each row of
// the block at once.
type interleaver[S, D numeric] struct {
	Block
	sources [][]S
	feature int64
	// the first values of the sources, if interleave8 moves them
	bases *[maxInterleaved]unsafe.Pointer
}

func newInterleaver[S, D numeric](b Block, sources [][]S, feature int64) *interleaver[S, D] {
	m := &interleaver[S, D]{Block: b, sources: sources, feature: feature}
	var value D
	if _, same := any(sources).([][]D); same && unsafe.Sizeof(value) == 4 &&
		len(sources) == maxInterleaved && b.Dilation == 1 && hasInterleave8 {
		m.bases = new([maxInterleaved]unsafe.Pointer)
		for i, s := range sources {
			m.bases[i] = unsafe.Pointer(unsafe.SliceData(s))
		}
	}
	return m
}

func (m *interleaver[S, D]) move(block unsafe.Pointer, row, first int64) {
	dst := unsafe.Slice((*D)(block), m.Length*m.Features)
	n := m.Length - first
	if m.bases != nil {
		moved := m.moveVectors(dst, row, first, n&^3)
		row, first, n = row+moved, first+moved, n-moved
	}
	if len(m.sources) == maxInterleaved && m.Dilation == 1 {
		m.move8(dst[first*m.Features:], row, n)
		return
	}
	for i := range n {
		out := dst[(first+i)*m.Features+m.feature:]
		out = out[:len(m.sources)]
		at := row + i*m.Dilation
		for j, s := range m.sources {
			out[j] = D(s[at])
		}
	}
}

// moveVectors moves n rows, a multiple of 4, and returns n. It checks the bounds that Go checks in
// move8.
func (m *interleaver[S, D]) moveVectors(dst []D, row, first, n int64) int64 {
	if n == 0 {
		return 0
	}
	for _, s := range m.sources {
		_ = s[row : row+n]
	}
	at := first*m.Features + m.feature
	_ = dst[at : at+(n-1)*m.Features+maxInterleaved]
	interleave8(unsafe.Pointer(&dst[at]), m.Features*4, m.bases, row*4, n)
	return n
}

// move8 keeps eight columns in registers.
func (m *interleaver[S, D]) move8(dst []D, row, n int64) {
	s := m.sources
	a, b, c, d := s[0][row:row+n], s[1][row:row+n], s[2][row:row+n], s[3][row:row+n]
	e, f, g, h := s[4][row:row+n], s[5][row:row+n], s[6][row:row+n], s[7][row:row+n]
	b, c, d, e, f, g, h = b[:len(a)], c[:len(a)], d[:len(a)], e[:len(a)], f[:len(a)], g[:len(a)],
		h[:len(a)]
	at := m.feature
	for i := range a {
		out := dst[at : at+maxInterleaved : at+maxInterleaved]
		out[0], out[1], out[2], out[3] = D(a[i]), D(b[i]), D(c[i]), D(d[i])
		out[4], out[5], out[6], out[7] = D(e[i]), D(f[i]), D(g[i]), D(h[i])
		at += m.Features
	}
}

func (m *interleaver[S, D]) ranges() []lineRange {
	out := make([]lineRange, len(m.sources))
	for i, s := range m.sources {
		out[i] = newLineRange(layout.Strided[S]{Data: s, Step: 1, Width: 1}, m.Block)
	}
	return out
}
