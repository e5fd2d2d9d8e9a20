package step

import (
	"cmp"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// join is the record of a column's steps for a generation and the rows appended to it.
type join struct {
	base       *Base
	width      int // values of a row
	old, added *layout.ManifestColumn
	result     Result
}

// Join returns what the manifest records of a column's steps when rows are appended to a
// generation. old is the generation's column, added that of the new rows.
func (b *Base) Join(old, added *layout.ManifestColumn) Result {
	j := &join{base: b, width: int(max(old.Width(), 1)), old: old, added: added}
	// version 0.1 applied no steps to booleans of text files: only the new rows have them
	if p := cmp.Or(old.Prepared, added.Prepared); p != nil {
		both := *p
		j.result.Prepared = &both
	}
	for _, k := range kinds {
		if k.join != nil {
			k.join(j)
		}
	}
	return j.result
}

// extended returns the numbers of the generation's items followed by those of new items.
func (j *join) extended(old, added []float64) []float64 {
	out := slices.Clone(old)
	for i, code := range j.base.Of {
		if code < 0 {
			out = append(out, added[i*j.width:(i+1)*j.width]...)
		}
	}
	return out
}
