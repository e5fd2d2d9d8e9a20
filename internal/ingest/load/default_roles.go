package load

import (
	"cmp"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// setDefaultRoles sets the items and the time that the sources name themselves, if no option names any.
// The recorded options stay as they are. Rows that are appended have the roles of their base.
func (l *load) setDefaultRoles() error {
	var first source.Series
	for _, r := range l.readers {
		if first = source.SeriesOf(r); first != nil {
			break
		}
	}
	if first == nil {
		return nil
	}
	if l.Melt != "" {
		return &loaderr.SourceError{Path: first.Path(), Reason: "has one value a row already",
			Hint: "load it without `melt`"}
	}
	if l.base == nil {
		items, time := first.DefaultRoles()
		if len(l.ItemID) == 0 {
			l.ItemID = items
		}
		l.Time = cmp.Or(l.Time, time)
		if err := l.CheckTimeIsNoItem(); err != nil {
			return err
		}
	}
	if len(l.ItemID) == 0 && (len(l.readers) > 1 || l.base != nil) {
		return &loaderr.SourceError{Path: first.Path(),
			Reason: "no item names its series, so that its values would be joined with other rows",
			Hint:   first.HintNames()}
	}
	return nil
}
