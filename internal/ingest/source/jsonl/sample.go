package jsonl

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// sampleRows is the number of rows whose keys are the columns, and from which types are inferred at
// first.
const sampleRows = 1000

// sample scans the first rows.
func (f *file) sample(visit func(key []byte, v value) *fault, done func() *fault) error {
	var buf []byte
	for _, s := range f.Spans {
		if s.Row0 >= sampleRows {
			break
		}
		var err error
		if buf, err = f.scanSpan(buf, s, sampleRows-s.Row0, visit, done); err != nil {
			return err
		}
	}
	return nil
}

// findNames sets the names of the columns to the keys of the first rows.
func (f *file) findNames() error {
	err := f.sample(func(key []byte, _ value) *fault {
		if _, known := f.index[string(key)]; known {
			return nil
		}
		if f.tooMany = f.tooMany || len(f.names) == maxKeys; !f.tooMany {
			f.addName(string(key))
		}
		return nil
	}, func() *fault { return nil })
	if err == nil && len(f.names) == 0 {
		return &loaderr.SourceError{
			Path: f.Path(), Reason: fmt.Sprintf("its first %d objects have no keys", sampleRows),
			Hint: loaderr.HintEmpty,
		}
	}
	return err
}

// Describe infers the types of the wanted columns from the first rows.
func (f *file) Describe(w []column.Want) ([]column.Column, error) {
	if f.tooMany && !f.selected {
		return nil, &loaderr.SourceError{
			Path:   f.Path(),
			Reason: fmt.Sprintf("its first %d rows have more than %d keys", sampleRows, maxKeys),
			Hint:   "name the wanted keys with `columns`",
		}
	}
	out := make([]column.Column, len(w))
	wanted := map[string]int{} // index in w
	for i, x := range w {
		out[i] = column.Column{Name: f.names[x.Index], Inferred: true,
			Nullable: x.Nullable, As: x.As}
		if x.Text {
			out[i] = column.Column{Name: f.names[x.Index], Kind: column.KindText}
		}
		wanted[out[i].Name] = i
	}
	seen := make([]bool, len(w))
	err := f.sample(func(key []byte, v value) (bad *fault) {
		i, ok := wanted[string(key)]
		if !ok {
			return nil
		}
		if seen[i] {
			return faultTwice()
		}
		seen[i] = true
		out[i], bad = widen(out[i], v, w[i].Role)
		return bad
	}, func() (bad *fault) {
		for i, x := range w {
			if !seen[i] {
				if out[i], bad = widen(out[i], value{}, x.Role); bad != nil {
					bad.key = out[i].Name
					return bad
				}
			}
			seen[i] = false
		}
		return nil
	})
	return out, err
}

// faultTwice returns the fault of a row with two equal keys.
func faultTwice() *fault {
	return &fault{reason: "is of a key that the row has twice",
		hint: "write each key once in an object"}
}

// faultNew returns the fault of a row with a key that no column has.
func faultNew(key string) *fault {
	return &fault{
		key:    key,
		reason: fmt.Sprintf("is of a key that the first %d rows do not have", sampleRows),
		hint: "name the wanted keys with `columns`: they may begin in any row, " +
			"and the load ignores all others",
	}
}
