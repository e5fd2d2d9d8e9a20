package load

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/note"
	"github.com/tensorcache/tensorcache/layout"
)

// noteTable returns what a load stores, for its notes.
func (l *load) noteTable(w *layout.Writer, words map[string][]string) *note.Table {
	t := &note.Table{Columns: w.Columns(), Words: words, Options: l.recorded}
	for i, c := range l.columns {
		if c.Cells {
			t.Cells = append(t.Cells, c.Name)
		} else if c.Names && l.wanted.roles[i] == layout.RoleValue {
			t.Folders = append(t.Folders, c.Name)
		}
	}
	return t
}

// textNotes notes what the load found out about its text files: their dialect, and which columns have
// TRUE and FALSE for booleans. An append has the note of these columns from its generation, which
// decides the types.
func (l *load) textNotes() []layout.Note {
	notes := note.Dialect(l.dialect())
	if l.base != nil {
		return append(notes, slices.DeleteFunc(slices.Clone(l.base.Data.Manifest.Notes),
			func(n layout.Note) bool { return n.Field != note.FieldDType })...)
	}
	var names []string
	for i, c := range l.columns {
		if l.capitals[i].Load() && !c.Mixed { // typed files say that they are booleans
			names = append(names, c.Name)
		}
	}
	return append(notes, note.Capitals(l.recorded, names)...)
}
