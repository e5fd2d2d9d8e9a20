package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// maxInterleaved is how many columns are interleaved at once. A column at a time writes every cache
// line of the block once per column and takes five times as long.
const maxInterleaved = 8

// interleaver moves columns that are not adjacent, in groups, so that it writes the values of a group
// in a row of the block at once.
type interleaver[S, D numeric] struct {
	Block
	sources [][]S
	groups  []interleaved[S]
}

// interleaved are some columns, at most maxInterleaved, and the feature of the first one.
type interleaved[S numeric] struct {
	sources [][]S
	feature int64
	// vectors are the first values of the sources, if interleave8 moves them. If there are fewer than
	// maxInterleaved sources, the last one stands for the missing ones.
	vectors *[maxInterleaved]unsafe.Pointer
}

func newInterleaver[S, D numeric](b Block, sources [][]S, feature int64) *interleaver[S, D] {
	m := &interleaver[S, D]{Block: b, sources: sources}
	var value D
	_, same := any(sources).([][]D)
	vectors := same && unsafe.Sizeof(value) == 4 && b.Dilation == 1 && hasInterleave8
	for from := 0; from < len(sources); from += maxInterleaved {
		at, end := from, min(from+maxInterleaved, len(sources))
		if vectors { // the last group may have columns of the one before again, so that it is whole
			at = max(0, end-maxInterleaved)
		}
		m.groups = append(m.groups, interleaved[S]{sources: sources[at:end], feature: feature + int64(at)})
		g := &m.groups[len(m.groups)-1]
		// Groups of fewer columns need rows that consist of them alone.
		if n := len(g.sources); vectors && (n == maxInterleaved || b.Features == int64(n)) {
			g.vectors = new([maxInterleaved]unsafe.Pointer)
			for i := range g.vectors {
				g.vectors[i] = unsafe.Pointer(unsafe.SliceData(g.sources[min(i, len(g.sources)-1)]))
			}
		}
	}
	return m
}

func (m *interleaver[S, D]) move(block unsafe.Pointer, row, first int64) {
	dst := unsafe.Slice((*D)(block), m.Length*m.Features)
	for i := range m.groups {
		m.moveGroup(&m.groups[i], dst, row, first)
	}
}

func (m *interleaver[S, D]) moveGroup(g *interleaved[S], dst []D, row, first int64) {
	if g.vectors != nil {
		moved := m.moveVectors(g, dst, row, first)
		row, first = row+moved, first+moved
	}
	n := m.Length - first
	if n == 0 {
		return
	}
	dst = dst[first*m.Features+g.feature:]
	if len(g.sources) == maxInterleaved && m.Dilation == 1 {
		move8(g.sources, dst, row, n, m.Features)
		return
	}
	moveEach(g.sources, dst, row, n, m.Dilation, m.Features)
}

// moveEach moves n rows of a few columns value by value. It has the values of the loop as arguments,
// and is a function of its own, so that they stay in registers.
//
//go:noinline
func moveEach[S, D numeric](sources [][]S, dst []D, row, n, dilation, features int64) {
	at, columns := int64(0), int64(len(sources))
	for range n {
		out := dst[at : at+columns]
		for j := range out {
			out[j] = D(sources[j][row])
		}
		row, at = row+dilation, at+features
	}
}

// moveVectors moves rows from first on with interleave8, and returns their number. Each row is written
// as maxInterleaved values. If it has fewer, the rest is in the rows after it, which are written later;
// so the last rows, which have no such rows after them, are left to the caller. It checks the bounds
// that Go checks in move8.
func (m *interleaver[S, D]) moveVectors(g *interleaved[S], dst []D, row, first int64) int64 {
	columns := int64(len(g.sources))
	n := m.Length - first
	if columns < maxInterleaved {
		n -= (maxInterleaved - 1) / columns // rows that the rest of a row needs after it
	}
	if n &^= 3; n <= 0 {
		return 0
	}
	for _, s := range g.sources {
		_ = s[row : row+n]
	}
	at := first*m.Features + g.feature
	_ = dst[at : at+(n-1)*m.Features+maxInterleaved]
	interleave8(unsafe.Pointer(&dst[at]), m.Features*4, g.vectors, row*4, n)
	return n
}

// move8 moves n rows of eight columns, which it keeps in registers.
func move8[S, D numeric](s [][]S, dst []D, row, n, features int64) {
	a, b, c, d := s[0][row:row+n], s[1][row:row+n], s[2][row:row+n], s[3][row:row+n]
	e, f, g, h := s[4][row:row+n], s[5][row:row+n], s[6][row:row+n], s[7][row:row+n]
	b, c, d, e, f, g, h = b[:len(a)], c[:len(a)], d[:len(a)], e[:len(a)], f[:len(a)], g[:len(a)],
		h[:len(a)]
	at := int64(0)
	for i := range a {
		out := dst[at : at+maxInterleaved : at+maxInterleaved]
		out[0], out[1], out[2], out[3] = D(a[i]), D(b[i]), D(c[i]), D(d[i])
		out[4], out[5], out[6], out[7] = D(e[i]), D(f[i]), D(g[i]), D(h[i])
		at += features
	}
}

func (m *interleaver[S, D]) ranges() []lineRange {
	out := make([]lineRange, len(m.sources))
	for i, s := range m.sources {
		out[i] = newLineRange(layout.Strided[S]{Data: s, Step: 1, Width: 1}, m.Block)
	}
	return out
}
