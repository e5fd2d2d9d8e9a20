package ingest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"sort"

	"github.com/cespare/xxhash/v2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/layout"
)

// grouped is a reader of rows in groups that can be left out, each by itself, where it is known that no row of them is kept.
type grouped interface {
	reader
	// groupRows are the rows of each group, nil where none can be left out.
	groupRows() []int64
	// bounds are values that no value of a column is below and above in a group: two int64 or two string, as the column is read. ok is false
	// where they are not known.
	bounds(index, group int, as column) (least, most any, ok bool)
	// without reads the other groups, at least one, as if they were all.
	without(skip []bool) reader
}

// chosen is what a load reads of a source.
type chosen struct {
	reader reader
	rows   int64
	starts []int64 // of the groups that are read, in rows that are read
	ahead  []int64 // rows that are left out before each of them
}

// origin is the row of the source that a row that was read is.
func (c chosen) origin(row int64) int64 {
	if i := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > row }); i > 0 {
		return row + c.ahead[i-1]
	}
	return row
}

// choose leaves out the groups of a source of which the filters keep no row. Nothing is left out where what was read would be reported, the
// error of narrowed tensors of floats, or is changed in place: times of another unit than the generation's.
func (l *load) choose(r reader) chosen {
	all := chosen{reader: r, rows: r.rows()}
	g, ok := r.(grouped)
	if !ok || l.whole || len(l.units) > 0 {
		return all
	}
	for i := range l.losses {
		if c := l.columns[i]; c.kind.dtype().IsFloat() && !l.converts(c, l.wanted.roles[i]) {
			return all
		}
	}
	q, ok := l.question(r)
	if !ok {
		return all
	}
	rows := g.groupRows()
	if rows == nil {
		return all
	}
	skip := make([]bool, len(rows))
	some := chosen{}
	var row int64
	for i, n := range rows {
		if skip[i] = !q.mayKeep(g, i); !skip[i] {
			some.starts, some.ahead = append(some.starts, some.rows), append(some.ahead, row-some.rows)
			some.rows += n
		}
		row += n
	}
	switch some.rows {
	case all.rows:
		return all
	case 0:
		some.reader = r
	default:
		some.reader = g.without(skip)
	}
	return some
}

// question is what the filters ask of a group.
type question struct {
	index       []int // of the item_id columns in the source
	ids         []column
	clock       int // the time column's index, -1 without one
	time        column
	from, to    int64
	names       [][]any // of items, nil for all
	part, parts uint64
}

// question is put together from the options; ok is false where they cannot be asked so.
func (l *load) question(r reader) (q question, ok bool) {
	w, err := l.wanted.in(r.path(), l.readers[0].path(), r.names())
	if err != nil {
		return q, false
	}
	k := &keys{}
	q.clock = -1
	for i, c := range l.columns {
		switch l.wanted.roles[i] {
		case layout.RoleItemID:
			q.index, q.ids = append(q.index, w[i].index), append(q.ids, c)
			var words []string
			if c.kind == kindText {
				words = []string{}
			}
			k.at, k.words = append(k.at, nil), append(k.words, words)
		case layout.RoleTime:
			q.clock, q.time, k.clock = w[i].index, c, c
		}
	}
	if q.clock >= 0 {
		if q.from, q.to, err = l.Where.bounds(q.time); err != nil {
			return q, false
		}
	}
	for _, raw := range l.Items {
		parts, err := k.canonicalParts(raw)
		if err != nil {
			return q, false
		}
		q.names = append(q.names, parts)
	}
	q.part, q.parts, err = parseBucket(l.ItemBucket)
	return q, err == nil
}

// mayKeep tells whether a row of the group may be kept.
func (q question) mayKeep(g grouped, group int) bool {
	if q.clock >= 0 {
		least, most, ok := g.bounds(q.clock, group, q.time)
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
		if least[i], most[i], ok = g.bounds(q.index[i], group, c); !ok {
			least[i], most[i] = nil, nil
		}
		one = one && ok && least[i] == most[i]
	}
	if q.parts > 0 && one && xxhash.Sum64(appendParts(nil, least))%q.parts != q.part {
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

// inBounds tells whether a value may lie in bounds, as it may where they are not known or of another kind.
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

// textBounds is how long a text is that is taken for a bound as it is: writers cut long ones, and not all of them so that they stay bounds.
const textBounds = 32

func (p *parquetFile) groupRows() []int64 {
	out := make([]int64, len(p.groups)-1)
	for g := range out {
		out[g] = p.groups[g+1] - p.groups[g]
	}
	return out
}

// bounds are the statistics of the footer, of the kinds of values and in the fields of which the order is defined; not where there are
// nulls, which the load refuses in these columns.
func (p *parquetFile) bounds(index, group int, as column) (least, most any, ok bool) {
	c := p.columns[index]
	f, err := parquetForm(c)
	meta := p.pq.Metadata()
	if err != nil || c.Index() >= len(meta.ColumnOrders) {
		return nil, nil, false
	}
	if _, defined := meta.ColumnOrders[c.Index()].Value.(*format.TypeDefinedOrder); !defined {
		return nil, nil, false
	}
	s := &meta.RowGroups[group].Columns[c.Index()].MetaData.Statistics
	if s.NullCount != 0 {
		return nil, nil, false
	}
	if f.kind == kindText && as.kind == kindText {
		a, b := string(s.MinValue), string(s.MaxValue)
		return a, b, f.physical == parquet.ByteArray && b != "" && a <= b && len(a) < textBounds && len(b) < textBounds
	}
	sameTime := f.kind == kindTime && as.kind == kindTime && f.unit == as.unit
	if f.decimal || !sameTime && !(f.kind.isInteger() && as.kind.isInteger()) {
		return nil, nil, false
	}
	a, okA := f.bound(s.MinValue)
	b, okB := f.bound(s.MaxValue)
	return a, b, okA && okB && a <= b
}

// bound reads a value of an integer column or of times.
func (f form) bound(b []byte) (v int64, ok bool) {
	switch {
	case f.physical == parquet.Int32 && len(b) == 4:
		u := binary.LittleEndian.Uint32(b)
		v = int64(int32(u))
		if f.unsigned {
			v = int64(u)
		}
		if f.date {
			v *= 86400
		}
		return v, true
	case f.physical == parquet.Int64 && len(b) == 8:
		u := binary.LittleEndian.Uint64(b)
		return int64(u), !f.unsigned || u <= math.MaxInt64
	}
	return 0, false
}

func (p *parquetFile) without(skip []bool) reader {
	q := *p
	q.skip = skip
	return &q
}

func (p *partitioned) groupRows() []int64 {
	switch r := p.reader.(type) {
	case grouped:
		return r.groupRows()
	case *csvFile: // any of its cells may say that a column holds something wider
		return nil
	}
	return []int64{p.rows()}
}

// bounds are the folder's value, for its columns.
func (p *partitioned) bounds(index, group int, as column) (least, most any, ok bool) {
	if index < p.inner {
		if g, ok := p.reader.(grouped); ok {
			return g.bounds(index, group, as)
		}
		return nil, nil, false
	}
	value := p.parts[index-p.inner].value
	if as.kind == kindText {
		return value, value, true
	}
	v, ok := parseCanonical([]byte(value))
	return v, v, ok && as.kind.isInteger()
}

func (p *partitioned) without(skip []bool) reader {
	g, ok := p.reader.(grouped)
	if !ok { // one group, and not that
		return p
	}
	q := *p
	q.reader = g.without(skip)
	return &q
}
