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

// choose leaves out the groups of a source of which the filters keep no row. Nothing is left out where what was read would be reported, the
// error of narrowed tensors of floats, or is changed in place: times of another unit than the generation's.
func (l *load) choose(r source.Reader) source.Selection {
	all := source.Selection{Reader: r, Rows: r.Rows()}
	g, ok := r.(source.RowGroupPruner)
	if !ok || l.whole || len(l.units) > 0 {
		return all
	}
	for i := range l.losses {
		if c := l.columns[i]; c.Kind.DType().IsFloat() && !l.plans[i].converted {
			return all
		}
	}
	q, ok := l.question(r)
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
		if skip[i] = !q.mayKeep(g, i); !skip[i] {
			some.Starts, some.SkippedBefore = append(some.Starts, some.Rows), append(some.SkippedBefore, row-some.Rows)
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

// question is what the filters ask of a group.
type question struct {
	index       []int // of the item_id columns in the source
	ids         []column.Column
	clock       int // the time column's index, -1 without one
	time        column.Column
	from, to    int64
	names       [][]any // of items, nil for all
	part, parts uint64
}

// question is put together from the options; ok is false if they cannot be asked so.
func (l *load) question(r source.Reader) (q question, ok bool) {
	w, err := l.wanted.in(r.Path(), l.readers[0].Path(), r.Names())
	if err != nil {
		return q, false
	}
	var words [][]string // of the columns that name an item
	q.clock = -1
	for i, c := range l.columns {
		switch l.wanted.roles[i] {
		case layout.RoleItemID:
			q.index, q.ids = append(q.index, w[i].Index), append(q.ids, c)
			var text []string
			if c.Kind == column.KindText {
				text = []string{}
			}
			words = append(words, text)
		case layout.RoleTime:
			q.clock, q.time = w[i].Index, c
		}
	}
	if q.clock >= 0 {
		if q.from, q.to, err = l.Where.Bounds(q.time); err != nil {
			return q, false
		}
	}
	for _, raw := range l.Items {
		parts, err := rows.CanonicalParts(raw, words)
		if err != nil {
			return q, false
		}
		q.names = append(q.names, parts)
	}
	q.part, q.parts, err = option.ParseBucket(l.ItemBucket)
	return q, err == nil
}

// mayKeep reports whether a row of the group may be kept.
func (q question) mayKeep(g source.RowGroupPruner, group int) bool {
	if q.clock >= 0 {
		least, most, ok := g.Bounds(q.clock, group, q.time)
		if ok && (most.(int64) < q.from || least.(int64) > q.to) {
			return false
		}
	}
	if len(q.names) == 0 && q.parts == 0 {
		return true
	}
	least, most := make([]any, len(q.ids)), make([]any, len(q.ids))
	one := true // item, in all rows
	for i, c := range q.ids {
		var ok bool
		if least[i], most[i], ok = g.Bounds(q.index[i], group, c); !ok {
			least[i], most[i] = nil, nil
		}
		one = one && ok && least[i] == most[i]
	}
	if q.parts > 0 && one && xxhash.Sum64(option.AppendParts(nil, least))%q.parts != q.part {
		return false
	}
	for _, name := range q.names {
		within := true
		for i := range name {
			within = within && inBounds(least[i], most[i], name[i])
		}
		if within {
			return true
		}
	}
	return len(q.names) == 0
}

// inBounds reports whether a value may lie in bounds, as it may where they are not known or of another kind.
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
