package ingest

import "fmt"

// widen takes over what the cells ask for.
func (l *load) widen(wider *widenError) error {
	changed := false
	for i, c := range wider.columns {
		w, ok := widest(l.columns[i], c)
		if !ok {
			return fmt.Errorf("column %q cannot be %s and %s", c.name, l.columns[i].describe(), c.describe())
		}
		if err := w.usable(l.readers[0].path(), l.wanted.roles[i]); err != nil {
			return err
		}
		changed = changed || w != l.columns[i]
		l.columns[i] = w
	}
	if err := l.conform(); err != nil {
		return err
	}
	if !changed { // never again and again
		return fmt.Errorf("columns cannot be widened beyond %s", l.columns[0].describe())
	}
	return nil
}
