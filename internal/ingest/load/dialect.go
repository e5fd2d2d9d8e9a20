package load

import (
	"cmp"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// textDialect returns the dialect of text files, by the options.
func (l *load) textDialect() textvalue.Dialect {
	d := l.Options.Dialect()
	if l.base != nil && l.base.Data.Manifest.Dialect != nil {
		d.CommaBefore = l.base.Data.Manifest.Dialect.Decimal == ","
	}
	return d
}

// foundDialect receives what the reader of a text file found.
func (l *load) foundDialect(f textvalue.Found) {
	l.found = append(l.found, f)
	l.Text.CommaBefore = l.Text.CommaBefore || f.Decimal == ','
}

// checkDecimals refuses a file whose numbers are like 1.234 beside files that have decimal commas.
func (l *load) checkDecimals() error {
	for _, f := range l.found {
		if f.Unclear && l.Text.CommaBefore {
			return &loaderr.SourceError{
				Path:   f.Path,
				Reason: "has numbers such as 1.234, which may be 1234: a file beside it has decimal commas",
				Hint:   "write all files with the same decimal sign, and none between thousands",
			}
		}
	}
	return nil
}

// dialect returns what the load found out about its text files, and about those of the generation
// that rows are appended to. It is nil if all are plain.
func (l *load) dialect() *layout.Dialect {
	var d layout.Dialect
	for _, f := range l.found {
		d = d.Or(asDialect(f))
	}
	alike := 0
	for _, f := range l.found {
		if asDialect(f) == d {
			alike++
		}
	}
	if d.Mixed = alike < len(l.readers); d.IsPlain() {
		d.Mixed = false
	}
	if l.base != nil {
		old := cmp.Or(l.base.Data.Manifest.Dialect, &layout.Dialect{})
		mixed := *old != d
		d = d.Or(*old)
		d.Mixed = mixed || old.Mixed
	}
	if d.IsPlain() {
		return nil
	}
	return &d
}

// asDialect returns what a manifest says of a finding.
func asDialect(f textvalue.Found) layout.Dialect {
	sign := func(b byte) string {
		if b == 0 {
			return ""
		}
		return string(rune(b))
	}
	return layout.Dialect{Encoding: f.Encoding, Delimiter: sign(f.Delimiter), Decimal: sign(f.Decimal)}
}

// isNamed reports whether an option, or the generation that rows are appended to, names a column.
func (l *load) isNamed(name string) bool {
	_, hasDType := l.DType.By[name]
	return hasDType || name == l.Time || slices.Contains(l.Columns, name) ||
		slices.Contains(l.ItemID, name) || slices.Contains(l.TimeParts, name) ||
		l.base != nil && (slices.Contains(l.base.stored, name) || l.Melt != "" && l.base.hasItem(name))
}

// hasNumbers reports whether the options let a column be one of numbers.
func (l *load) hasNumbers(name string) bool {
	isText := l.DType.By[name] == string(layout.Text) ||
		l.Melt != "" && l.DType.By[column.MeltedValue] == string(layout.Text) ||
		l.base != nil && l.base.isText(name)
	isValue := len(l.Columns) == 0 || slices.Contains(l.Columns, name)
	return isValue && !isText && name != l.Time && !slices.Contains(l.ItemID, name)
}
