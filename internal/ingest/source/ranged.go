package source

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/origin"
)

// Ranged is a reader that tells which bytes of its file it reads.
type Ranged interface {
	Reader
	// Ranges returns the bytes of the file that ReadRows reads for these columns, in any order.
	Ranges(w []column.Want) []origin.Range
}

// Ranges returns the bytes of the file that ReadRows reads. They do not depend on w: all series are
// read.
func (m *Melted) Ranges([]column.Want) []origin.Range {
	return rangesOf(m.Reader, m.sourceWants())
}

// Ranges returns the bytes of the file that ReadRows reads for the columns of the file among w.
func (p *partitioned) Ranges(w []column.Want) []origin.Range {
	var own []column.Want
	for _, x := range w {
		if x.Index < p.fileColumns {
			own = append(own, x)
		}
	}
	return rangesOf(p.Reader, own)
}

// Ranges returns the bytes of the file that ReadRows reads for the columns that w is made of.
func (t *timeParts) Ranges(w []column.Want) []origin.Range {
	return rangesOf(t.Reader, t.sourceWants(w))
}

// rangesOf returns the ranges of a reader. It panics if the reader has none.
func rangesOf(r Reader, w []column.Want) []origin.Range { return r.(Ranged).Ranges(w) }
