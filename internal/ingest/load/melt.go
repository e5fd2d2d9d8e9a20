package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// melt wraps the readers, and changes the options to those of the melted columns. close releases
// what the readers of melted rows have.
func (l *load) melt() (close func() error, err error) {
	var scratch []*source.MeltedRows
	close = func() (err error) {
		for _, m := range scratch {
			err = errors.Join(err, m.CloseScratch())
		}
		return err
	}
	items := []string{column.MeltedItem}
	for i, r := range l.readers {
		var m source.Reshaped
		if l.Melt == option.MeltRows {
			var names []string
			if m, names, err = l.meltRowsOf(r); i == 0 {
				items = names
			}
		} else {
			m, err = l.meltColumnsOf(r)
		}
		if err != nil {
			return close, err
		}
		l.readers[i] = m
		if m, ok := m.(*source.MeltedRows); ok {
			scratch = append(scratch, m)
		}
	}
	l.ItemID, l.Columns = items, nil
	return close, nil
}

// meltColumnsOf returns a reader of the melted columns of another.
func (l *load) meltColumnsOf(r source.Reader) (*source.Melted, error) {
	if key, ok := source.PartitionOf(r); ok && len(l.Columns) == 0 {
		return nil, isPartition(r, key, "name the columns that are series with `columns`")
	}
	w, wants, err := l.sourceColumns(r)
	if err != nil {
		return nil, err
	}
	return source.Melt(r, w.names, wants, l.Time)
}

// isPartition returns the error for a partition, which is neither a series nor a value of one.
func isPartition(r source.Reader, key, hint string) error {
	return &loaderr.SourceError{
		Path: r.Path(), Column: key, Reason: "is a partition, not a series", Hint: hint,
	}
}

// sourceColumns returns the columns that the options select of the source, without their dtypes,
// which are those of the result.
func (l *load) sourceColumns(r source.Reader) (w wanted, wants []column.Want, err error) {
	o := l.Options
	o.DType = option.DTypes{}
	if w, err = resolve(o, r.Names()); err == nil {
		wants, err = w.in(r.Path(), r.Path(), r.Names())
	}
	return w, wants, err
}

// meltRowsOf returns a reader of the melted rows of another, and the names of the columns that name
// their series. Without the option item_id, that is the first column.
func (l *load) meltRowsOf(r source.Reader) (source.Reshaped, []string, error) {
	if key, ok := source.PartitionOf(r); ok {
		return nil, nil, isPartition(r, key, "name the files instead of the folder")
	}
	names := r.Names()
	isDefault := len(l.ItemID) == 0
	if isDefault {
		l.ItemID = names[:1]
		defer func() { l.ItemID = nil }()
	}
	w, wants, err := l.sourceColumns(r)
	if err != nil {
		return nil, nil, err
	}
	items := slices.Clone(w.names[:len(l.ItemID)])
	if items[0] == column.MeltedValue { // the option item_id cannot name it
		return nil, nil, &loaderr.SourceError{
			Path: r.Path(), Column: items[0],
			Reason: "names the series, and has the name that `melt` gives to their values",
			Hint:   "rename the column in the source",
		}
	}
	have := column.Counts(names)
	for i, name := range w.names {
		if name == "" || have[name] > 1 {
			return nil, nil, &loaderr.SourceError{
				Path: r.Path(), Column: name, Reason: fmt.Sprintf(
					"is the name of several columns, or of none: number %d", wants[i].Index+1),
				Hint: "give each column a name of its own, or name those with values in " +
					"`columns`",
			}
		}
	}
	if len(w.names) == len(items) {
		return nil, nil, &loaderr.SourceError{
			Path: r.Path(), Reason: "has no values besides the names of the series",
			Hint: "load it without `melt=\"rows\"`",
		}
	}
	var indexes []int
	for _, x := range wants {
		indexes = append(indexes, x.Index)
	}
	of, series := indexes[:len(items)], indexes[len(items):]
	if m, ok := r.(source.RowMelter); ok {
		return m.MeltRows(of, series, isDefault), items, nil
	}
	return source.MeltRows(r, of, series, isDefault, l.Dir), items, nil
}
