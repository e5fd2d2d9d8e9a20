package load

import (
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// locate returns the source of a row of the result, and its row there, from 1.
func (l *load) locate(row int64) loaderr.SourceError {
	if l.rowOrder != nil {
		row = l.rowOrder.At(row)
	}
	return l.locateSource(row)
}

// locateSource returns the source of a row, and its row there, from 1. row counts the rows that the
// filters select of all sources. An inserted row has the path of the first source only.
func (l *load) locateSource(row int64) loaderr.SourceError {
	if row == rows.Inserted {
		return loaderr.SourceError{Path: l.readers[0].Path()}
	}
	if l.selected != nil {
		row = l.selected.At(row)
	}
	for _, r := range l.readers {
		if row < r.Rows() {
			return loaderr.SourceError{Path: r.Path(), Row: source.SourceRow(r, row) + 1,
				Line: r.Line(row)}
		}
		row -= r.Rows()
	}
	return loaderr.SourceError{Row: row + 1}
}

// keys returns the item and time columns of the load.
func (l *load) keys(vocab map[string][]string, dest func(i int) layout.ColumnWriter) *rows.Keys {
	return rows.NewKeys(l.columns, l.wanted.roles, vocab, dest, l.locateSource)
}

// words returns the words of each text column, in the order in which readers found them.
func (l *load) words() map[string][]string {
	words := map[string][]string{}
	for i, d := range l.dicts {
		words[l.columns[i].Name] = d.Words
	}
	return words
}
