package source

import "github.com/tensorcache/tensorcache/internal/ingest/column"

// WidenError is returned by ReadRows if values of a column do not fit the type that Describe
// returned. The load starts again with Columns, which are in the order of the targets.
type WidenError struct{ Columns []column.Column }

func (*WidenError) Error() string { return "columns must be widened" }

// Merge returns an error with the wider type of each column of e and other. e may be nil. Merge
// modifies e.
func (e *WidenError) Merge(other *WidenError) *WidenError {
	if e == nil {
		return other
	}
	for i, c := range other.Columns {
		if w, ok := column.Widest(e.Columns[i], c); ok {
			e.Columns[i] = w
		}
	}
	return e
}
