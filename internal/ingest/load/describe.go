package load

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// describe finds the columns of all sources together, and checks them against the options.
func (l *load) describe() error {
	first := l.readers[0]
	var err error
	for _, r := range l.readers {
		if err := l.base.checkColumns(r.Path(), r.Names()); err != nil {
			return err
		}
	}
	if l.base != nil {
		l.Columns = l.base.stored
	}
	if l.wanted, err = resolve(l.Options, first.Names()); err != nil {
		return namesBelow(err, first)
	}
	l.wanted.texts = l.base.texts(l.wanted)
	for _, r := range l.readers {
		if err := l.checkNames(r, first); err != nil {
			return err
		}
		w, err := l.wanted.in(r.Path(), first.Path(), r.Names())
		if err != nil {
			return err
		}
		var columns []column.Column
		err = parallel.Guard(r.Path(),
			func() (err error) { columns, err = r.Describe(w); return err })
		if err != nil {
			return withPath(r.Path(), err)
		}
		for i, c := range columns {
			columns[i] = c.InRole(l.wanted.roles[i])
		}
		l.rows += r.Rows()
		if m, ok := r.(source.Reshaped); ok {
			l.meter.SourceRows.Add(m.SourceRows())
		}
		if l.columns == nil {
			l.setColumns(columns)
			for i, c := range columns {
				l.wanted.texts[i] = l.wanted.texts[i] ||
					c.Kind == column.KindText && l.wanted.roles[i] == layout.RoleValue
			}
			continue
		}
		for i := range columns {
			a, b := l.columns[i], columns[i]
			unified, err := column.Unify(a, b)
			if err == nil {
				l.setColumn(i, unified)
				continue
			}
			hint := "load the files one by one, or leave the column out with `columns`"
			if l.wanted.roles[i] != layout.RoleValue {
				hint = "convert the column to one type in all files"
			} else if wider, ok := column.WiderOfSameClass(a, b); ok {
				if l.DType.Of(a) != "" && l.DType.Of(a) == l.DType.Of(b) {
					l.setColumn(i, wider)
					continue
				}
				hint = "say what to store with " +
					loaderr.ColumnOption("dtype", b.Name, wider.Kind.String())
			} else if column.CanBeText(a, b) {
				hint = column.HintText(b) + ", or leave the column out with `columns`"
			}
			return &loaderr.SourceError{
				Path: r.Path(), Column: b.Name, Reason: err.Error() + " " +
					first.Path(), Hint: hint,
			}
		}
	}
	if l.rows == 0 {
		return &loaderr.SourceError{Path: first.Path(), Reason: "holds no rows"}
	}
	return l.checkTypes()
}

// namesBelow adds to the error of a column that a text file does not have the line with its name.
func namesBelow(err error, r source.Reader) error {
	e := (*loaderr.OptionError)(nil)
	text, ok := r.(source.Lines)
	if !ok || !errors.As(err, &e) || !e.Column {
		return err
	}
	if line, ok := text.LineWith(e.Value); ok {
		e.Hint = fmt.Sprintf("line %d has it: if that line names the columns, load with ", line) +
			loaderr.Option("skip", line-1)
	}
	return err
}

// checkTypes checks the types of the columns against the options, and against the generation that
// rows are appended to.
func (l *load) checkTypes() error {
	if err := l.matchTypes(); err != nil {
		return err
	}
	path := l.readers[0].Path()
	for i, c := range l.columns {
		if err := c.CheckRole(path, l.wanted.roles[i]); err != nil {
			return err
		}
		if err := l.DType.Convertible(c, path, l.wanted.roles[i]); err != nil {
			return err
		}
	}
	if err := l.CheckSteps(l.columns, l.wanted.roles); err != nil {
		return err
	}
	if err := l.checkAppendSteps(); err != nil {
		return err
	}
	if err := l.checkKept(); err != nil {
		return err
	}
	return l.CheckCalendar(l.columns)
}

// checkNames refuses wanted columns without a name or with equal names. If all columns are wanted,
// it also refuses a source with other columns than the first.
func (l *load) checkNames(r, first source.Reader) error {
	have, want := column.Counts(r.Names()), column.Counts(l.wanted.names)
	for i, name := range r.Names() {
		wanted := want[name] > 0
		if wanted && name == "" {
			return &loaderr.SourceError{
				Path: r.Path(), Reason: fmt.Sprintf("column %d has no name", i+1),
				Hint: "name the columns that are wanted with `columns`",
			}
		}
		if wanted && !utf8.ValidString(name) {
			return &loaderr.SourceError{
				Path: r.Path(), Text: name,
				Reason: fmt.Sprintf("the name of column %d is not UTF-8", i+1),
				Hint:   loaderr.HintDamaged,
			}
		}
		if wanted && have[name] > 1 {
			return &loaderr.SourceError{
				Path: r.Path(), Column: name,
				Reason: fmt.Sprintf("%d columns have this name", have[name]),
				Hint:   "give them different names, or name the columns that are wanted with `columns`, without this one",
			}
		}
		if !wanted && len(l.Columns) == 0 {
			return &loaderr.SourceError{
				Path: r.Path(), Column: name, Reason: "is in this file but not in " + first.Path(),
				Hint: "name the columns that are wanted with `columns`",
			}
		}
	}
	return nil
}

// newDictionaries creates the dictionaries of text columns, with the generation's words if rows are
// appended.
func (l *load) newDictionaries() error {
	l.dicts = map[int]*column.Dictionary{}
	for i, c := range l.columns {
		if c.Kind != column.KindText {
			continue
		}
		words, err := l.base.words(c.Name)
		if k, ok := l.kept[c.Name]; ok && !k.Changed && err == nil {
			words, err = vocab(k.data, k.column.Name)
		}
		if err != nil {
			return err
		}
		l.dicts[i] = column.NewDictionary(words)
	}
	return nil
}
