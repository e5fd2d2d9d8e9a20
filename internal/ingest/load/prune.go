package load

import (
	"encoding/json"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// prune returns a source without the row groups of which the filters select no row.
//
// It returns all row groups in two cases. The recorded error of tensors of floats that are stored
// narrower counts all rows, also those that the filters leave out. Times in another unit than the
// generation's are converted in place after the reader has written all rows.
func (l *load) prune(r source.Reader) source.Selection {
	all := source.Selection{Reader: r, Rows: r.Rows()}
	g, ok := r.(source.RowGroupPruner)
	if !ok || l.readAll || len(l.units) > 0 {
		return all
	}
	for i := range l.losses {
		if c := l.columns[i]; c.Kind.DType().IsFloat() && !l.plans[i].convertedLater {
			return all
		}
	}
	f, ok := l.groupFilter(r)
	if !ok {
		return all
	}
	rows := g.GroupRows()
	if rows == nil {
		return all
	}
	skip := make([]bool, len(rows))
	some := source.Selection{}
	var row int64
	for i, n := range rows {
		if skip[i] = !f.mayMatch(g, i); !skip[i] {
			some.Starts, some.SkippedBefore = append(some.Starts, some.Rows),
				append(some.SkippedBefore, row-some.Rows)
			some.Rows += n
		}
		row += n
	}
	switch some.Rows {
	case all.Rows:
		return all
	case 0:
		some.Reader = r
	default:
		some.Reader = g.Without(skip)
	}
	return some
}

// groupFilter is the filters of a load, for the statistics of row groups.
type groupFilter struct {
	index       []int // of the item_id columns in the source
	ids         []column.Column
	clock       int // the time column's index, -1 without one
	time        column.Column
	from, to    int64
	names       [][]any // values of the item_id columns, by item; nil for all items
	part, parts uint64
}

// groupFilter returns the filters for a source. ok is false if row groups cannot be filtered.
func (l *load) groupFilter(r source.Reader) (f groupFilter, ok bool) {
	w, err := l.wanted.in(r.Path(), l.readers[0].Path(), r.Names())
	if err != nil {
		return f, false
	}
	var words [][]string // of the columns that name an item
	f.clock = -1
	for i, c := range l.columns {
		switch l.wanted.roles[i] {
		case layout.RoleItemID:
			f.index, f.ids = append(f.index, w[i].Index), append(f.ids, c)
			var text []string
			if c.Kind == column.KindText {
				text = []string{}
			}
			words = append(words, text)
		case layout.RoleTime:
			f.clock, f.time = w[i].Index, c
		}
	}
	// An item that is named must exist, also at other times and in another bucket. If the load misses
	// one, it reads the other row groups as well, but those of remote files are not there.
	if len(l.Origins) > 0 && len(l.Items) > 0 {
		f.clock = -1
	}
	if f.clock >= 0 {
		if f.from, f.to, err = l.Where.Bounds(f.time); err != nil {
			return f, false
		}
	}
	for _, raw := range l.Items {
		parts, err := rows.CanonicalParts(raw, words)
		if err != nil {
			return f, false
		}
		f.names = append(f.names, parts)
	}
	if len(l.Origins) == 0 || len(l.Items) == 0 {
		f.part, f.parts, err = option.ParseBucket(l.ItemBucket)
	}
	return f, err == nil
}

// mayMatch reports whether the filters may select a row of a group.
func (f groupFilter) mayMatch(g source.RowGroupPruner, group int) bool {
	if f.clock >= 0 {
		least, most, ok := g.Bounds(f.clock, group, f.time)
		if ok && (most.(int64) < f.from || least.(int64) > f.to) {
			return false
		}
	}
	if len(f.names) == 0 && f.parts == 0 {
		return true
	}
	least, most := make([]any, len(f.ids)), make([]any, len(f.ids))
	one := true // all rows are of one item
	for i, c := range f.ids {
		var ok bool
		if least[i], most[i], ok = g.Bounds(f.index[i], group, c); !ok {
			least[i], most[i] = nil, nil
		}
		one = one && ok && least[i] == most[i]
	}
	if f.parts > 0 && one && xxhash.Sum64(option.AppendParts(nil, least))%f.parts != f.part {
		return false
	}
	for _, name := range f.names {
		within := true
		for i := range name {
			within = within && inBounds(least[i], most[i], name[i])
		}
		if within {
			return true
		}
	}
	return len(f.names) == 0
}

// inBounds reports whether a value may be within bounds. It may if they are unknown or of another
// type.
func inBounds(least, most, v any) bool {
	if n, ok := v.(json.Number); ok {
		i, err := n.Int64()
		if err != nil {
			return true
		}
		v = i
	}
	switch v := v.(type) {
	case int64:
		a, ok := least.(int64)
		return !ok || a <= v && v <= most.(int64)
	case string:
		a, ok := least.(string)
		return !ok || a <= v && v <= most.(string)
	}
	return true
}
