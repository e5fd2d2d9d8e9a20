package load

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// checkColumns refuses a source without a column of the generation. If the generation was loaded
// with all columns of its sources, it also refuses a source with other columns.
func (k *base) checkColumns(path string, names []string) error {
	if k == nil {
		return nil
	}
	have, stored := column.Counts(names), column.Counts(k.stored)
	for _, name := range k.stored {
		if have[name] == 0 {
			return &loaderr.SourceError{
				Path: path, Column: name, Reason: "is in the dataset but not here",
				Hint: loaderr.HintReload,
			}
		}
	}
	for _, name := range names {
		if k.all && stored[name] == 0 {
			return &loaderr.SourceError{
				Path: path, Column: name, Reason: "is here but not in the dataset",
				Hint: loaderr.HintReload,
			}
		}
	}
	return nil
}

// matchTypes gives the columns the types of the generation's columns, if the cells of text files
// allow it, and refuses columns of other types.
func (l *load) matchTypes() error {
	if l.base == nil {
		return nil
	}
	for i, c := range l.columns {
		old, err := l.base.Data.Manifest.Column(c.Name)
		if err != nil {
			return err
		}
		want := old.SourceDType
		if want == "" {
			want = string(old.DType)
		}
		if c.Inferred {
			for k := range column.KindNames {
				as := c
				as.Kind, as.Unit, as.Zone = column.Kind(k), old.Unit, old.Zone
				if as.SourceName() != want {
					continue
				}
				if w, ok := column.Widest(c, as); ok && w.Kind == as.Kind && w.Unit == as.Unit {
					c = w
				}
			}
		}
		c = l.asInDataset(i, c, old, want)
		if delete(l.units, i); sameInstants(c, old) {
			if c.Unit != old.Unit {
				l.units[i] = c.Unit
			}
			c.Unit, c.Zone = old.Unit, old.Zone
			l.setColumn(i, c)
			continue
		}
		l.setColumn(i, c)
		as := l.plans[i].stored
		if c.SourceName() != want || as.DType != old.DType || as.Width != old.Width() ||
			as.Unit != old.Unit || as.Zone != old.Zone {
			was := layout.Column{DType: layout.DType(want), Width: old.Width(), Unit: old.Unit,
				Zone: old.Zone}
			return &loaderr.SourceError{
				Path: l.readers[0].Path(), Column: c.Name,
				Hint: "convert the column, or " + loaderr.HintReload,
				Reason: fmt.Sprintf("is %s here but %s in the dataset", c.Describe(),
					typeText(was)),
			}
		}
	}
	return nil
}

// asInDataset returns a column of integers, or of nulls, with the kind that the generation's column
// has in its source: floats store integers, unless they would round one, and other kinds may have
// missing values. want is the name of that kind.
func (l *load) asInDataset(i int, c column.Column, old *layout.ManifestColumn,
	want string) column.Column {
	if kind, again := l.kinds[i]; again {
		c.Kind = kind
	}
	kind, _ := column.KindOf(want)
	fits := c.Kind.IsInteger() && kind.IsFloat() ||
		c.Kind == column.KindUnknown && (kind <= column.KindFloat64 || kind == column.KindText)
	if fits && !c.Inferred && c.Width == old.Width() && l.wanted.roles[i] == layout.RoleValue {
		l.kinds[i], c.Kind = c.Kind, kind
	}
	return c
}

// typeText returns a column's type for messages.
func typeText(c layout.Column) string {
	s := string(c.DType)
	switch {
	case c.Zone != "":
		s += "[" + c.Unit + ", " + c.Zone + "]"
	case c.Unit != "":
		s += "[" + c.Unit + "]"
	}
	if c.Width > 0 {
		s += fmt.Sprintf("[%d]", c.Width)
	}
	return s
}
