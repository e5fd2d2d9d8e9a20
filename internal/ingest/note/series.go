package note

import (
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// minSteps is the least number of values of a series for which a note names `melt="rows"`.
const minSteps = 3

// hasSeriesInRows reports whether each row may be a series. Then the first column has another text in
// each row, which is no time, and all others have numbers and names that count, such as V2, V3, V4, or
// are times.
func (t *Table) hasSeriesInRows() bool {
	if len(t.Columns) < 1+minSteps || len(t.Folders) > 0 {
		return false
	}
	first := t.Columns[0]
	words := t.Words[first.Name]
	if first.Role != layout.RoleValue || first.DType != layout.Text || first.Rows < 2 ||
		int64(len(words)) != first.Rows || isTime(words[0]) || first.Name == column.MeltedValue {
		return false
	}
	for _, c := range t.Columns[1:] {
		if c.Role != layout.RoleValue || !c.DType.IsNumeric() || c.DType == layout.Bool || c.Width != 0 {
			return false
		}
	}
	names := namesOf(t.Columns[1:])
	return count(names) || isTime(names[0]) && isTime(names[len(names)-1])
}

// isTime reports whether a text is a time in any usual form.
func isTime(text string) bool {
	_, ok := textvalue.ParseTimeCell([]byte(text))
	return ok || len(textvalue.TimeFormats(text)) > 0
}

// count reports whether names are one text with numbers that rise by 1.
func count(names []string) bool {
	text, first, ok := numbered(names[0])
	for i, name := range names {
		t, n, isNumbered := numbered(name)
		ok = ok && isNumbered && t == text && n == first+i
	}
	return ok
}

// numbered splits a name into its text and the number at its end.
func numbered(name string) (text string, number int, ok bool) {
	text = strings.TrimRight(name, "0123456789")
	number, err := strconv.Atoi(name[len(text):])
	return text, number, err == nil
}
