package load

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// widen gives columns the wider types that cells of text files need. It refuses them if the options
// refuse them in the first rows.
func (l *load) widen(wider *source.WidenError) error {
	changed := false
	for i, c := range wider.Columns {
		w, ok := column.Widest(l.columns[i], c)
		if !ok {
			return fmt.Errorf("column %q cannot be %s and %s", c.Name, l.columns[i].Describe(),
				c.Describe())
		}
		changed = changed || w != l.columns[i]
		l.setColumn(i, w)
	}
	if err := l.checkTypes(); err != nil {
		return err
	}
	if !changed { // the load would begin again without end
		return fmt.Errorf("columns cannot be widened beyond %s", l.columns[0].Describe())
	}
	return nil
}
