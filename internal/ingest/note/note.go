// Package note says what a load assumed or left out, in the notes of its manifest.
package note

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// maxNames is the number of columns that a note names.
const maxNames = 5

// Table is what a load stores.
type Table struct {
	Columns []layout.ColumnWriter // to read, in mode Random
	Words   map[string][]string   // of each text column, by code
	Options option.Options        // as the user wrote them

	Cells   []string // names of columns of CSV and TSV files, to which time_format applies
	Folders []string // names of columns that come from names of folders
}

// Notes returns what the user of a load should know. It reads times and texts if neither time nor
// item is named, otherwise integers that may be times, and floats up to the first value.
func (t *Table) Notes(ctx context.Context, workers int) ([]layout.Note, error) {
	var notes []layout.Note
	texts := t.values(layout.Text)
	if times := t.values(layout.Timestamp); !t.has(layout.RoleTime) && len(times) > 0 {
		n, item, err := t.timeNote(ctx, workers, times, texts)
		if err != nil {
			return nil, err
		}
		notes = append(notes, n)
		texts = slices.DeleteFunc(texts, func(c layout.ColumnWriter) bool { return c.Name == item })
	} else {
		dates, err := t.dateNotes(ctx, workers)
		if err != nil {
			return nil, err
		}
		notes = append(notes, dates...)
	}
	texts = slices.DeleteFunc(texts, func(c layout.ColumnWriter) bool {
		return t.Options.DType.By[c.Name] != "" || slices.Contains(t.Options.Columns, c.Name)
	})
	if len(texts) > 0 {
		n := textNote(texts)
		if t.hasSeriesInRows() {
			n.Hint = "if each row is a series, load with " + loaderr.Option("melt", option.MeltRows) +
				"; otherwise leave that column out of the load, or name it in a spec, in `static_columns`"
		}
		notes = append(notes, n)
	}
	return slices.Concat(notes, t.itemNotes(), t.emptyNotes()), nil
}

// has reports whether a column has that role.
func (t *Table) has(role layout.Role) bool {
	return slices.ContainsFunc(t.Columns, func(c layout.ColumnWriter) bool { return c.Role == role })
}

// values returns the value columns of a dtype that have one value in a row.
func (t *Table) values(dtype layout.DType) []layout.ColumnWriter {
	var out []layout.ColumnWriter
	for _, c := range t.Columns {
		if c.Role == layout.RoleValue && c.DType == dtype && c.Width == 0 {
			out = append(out, c)
		}
	}
	return out
}

// textNote says that windows leave out columns because they have texts.
func textNote(texts []layout.ColumnWriter) layout.Note {
	return layout.Note{
		Field:  "columns",
		Detail: have(namesOf(texts)) + " texts, which windows leave out unless a spec names them",
		Hint: "leave them out of the load, or name them in a spec: in `context_columns` or " +
			"`known_columns`, or in `static_columns` if they are constant in each item",
	}
}

// have returns `column "a" has` or `columns "a", "b" have`.
func have(columns []string) string {
	if len(columns) == 1 {
		return fmt.Sprintf("column %s has", quote(columns[0]))
	}
	var names []string
	for _, name := range columns[:min(len(columns), maxNames)] {
		names = append(names, quote(name))
	}
	more := ""
	if n := len(columns) - maxNames; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("columns %s%s have", strings.Join(names, ", "), more)
}

// namesOf returns the names of columns.
func namesOf(columns []layout.ColumnWriter) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	return out
}

// quote quotes a name without a backtick, which begins an option in messages.
func quote(name string) string {
	return strings.ReplaceAll(strconv.Quote(name), "`", `\u0060`)
}
