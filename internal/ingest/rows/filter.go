package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/near"
)

// Filter selects the rows that match the item and time options of a load. Its state depends on the
// rows seen so far: call its methods for consecutive rows, from one goroutine.
type Filter struct {
	*Keys
	from, to int64 // bounds of the time, both inclusive
	// found has the canonical name of each wanted item, and whether a row has it. nil: no name
	// filter.
	found map[string]bool
	// bucket is the number of the wanted bucket out of buckets. buckets is 0 without a bucket
	// filter.
	bucket, buckets uint64
	items           *numbering
	selectedItems   []bool // by item number: whether the item is selected
	selected        bool   // whether the item of the current row is selected

	// number of selected items, and of rows inside the time bounds
	itemsSelected, rowsInTime int64
	minTime, maxTime          int64    // of all counted rows
	rows                      int64    // number of counted rows
	names                     []string // up to 10,000 item names, for suggestions in an error
}

// NewFilter returns the filter of a load's options: time bounds, item names and bucket. It
// returns an error if one of them is invalid.
func NewFilter(o option.Options, k *Keys) (*Filter, error) {
	f := &Filter{
		Keys: k, selected: true, items: newNumbering(len(k.Columns)), minTime: math.MaxInt64,
		maxTime: math.MinInt64,
	}
	var err error
	if f.from, f.to, err = o.Where.Bounds(k.Clock); err != nil {
		return nil, err
	}
	if f.bucket, f.buckets, err = option.ParseBucket(o.ItemBucket); err != nil || o.Items == nil {
		return f, err
	}
	f.found = map[string]bool{}
	for _, raw := range o.Items {
		name, err := k.canonical(raw)
		if err != nil {
			return nil, err
		}
		f.found[name] = false
	}
	return f, nil
}

// Matches reports whether a row passes the filter. Call it for the rows of a source in order,
// starting with row 0.
func (f *Filter) Matches(row int64) bool {
	if len(f.Columns) > 0 && (f.found != nil || f.buckets > 0) &&
		(row == 0 || !f.same(row-1, row)) {
		n, isNew := f.items.number(f.Keys, row)
		if isNew {
			f.selectedItems = append(f.selectedItems, f.selects(row))
		}
		f.selected = f.selectedItems[n]
	}
	if f.Time == nil {
		return f.selected
	}
	return f.selected && f.inBounds(row)
}

func (f *Filter) inBounds(row int64) bool {
	return f.TimeOf(row) >= f.from && f.TimeOf(row) <= f.to
}

// Count returns how many of the first rows rows of a source match. k are the keys of the source;
// the following calls of Matches use them too.
func (f *Filter) Count(ctx context.Context, k *Keys, rows int64) (n int64, err error) {
	f.Keys, f.rows = k, f.rows+rows
	for row := range rows {
		if row&(1<<20-1) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if f.Matches(row) {
			n++
		}
		if f.Time != nil {
			f.minTime, f.maxTime = min(f.minTime, f.TimeOf(row)), max(f.maxTime, f.TimeOf(row))
			if f.inBounds(row) {
				f.rowsInTime++
			}
		}
	}
	return n, nil
}

// selects reports whether the row's item matches the names and the bucket.
func (f *Filter) selects(row int64) bool {
	const maxNames = 10_000 // that are searched for similar names
	name := f.AppendItemName(nil, row)
	selected := f.buckets == 0 || xxhash.Sum64(name)%f.buckets == f.bucket
	if f.found != nil {
		_, named := f.found[string(name)]
		if named {
			f.found[string(name)] = true
		}
		selected = selected && named
		if len(f.names) < maxNames {
			f.names = append(f.names, strings.Trim(string(name), `"`))
		}
	}
	if selected {
		f.itemsSelected++
	}
	return selected
}

// CheckAllFound returns a [loaderr.OptionError] for the first of the given names that no row's item
// has.
func (f *Filter) CheckAllFound(items []json.RawMessage) error {
	for _, raw := range items {
		name, err := f.canonical(raw)
		if err != nil {
			return err
		}
		if f.found[name] {
			continue
		}
		name = strings.Trim(name, `"`)
		return &loaderr.OptionError{
			Field: "items", Value: name, Item: true,
			Allowed: near.List(near.Names(name, f.names)),
		}
	}
	return nil
}

// NoRowError returns the error of a load of which no row matches. It states the reason: the items,
// the bucket or the time bounds.
func (f *Filter) NoRowError(path, bucket string) error {
	e := &loaderr.SourceError{Path: path}
	if items := int64(len(f.selectedItems)); items > 0 && f.itemsSelected == 0 {
		e.Reason = fmt.Sprintf("none of the %d items is selected", items)
		e.Hint = "name some of them with `items`, or leave out files without any"
		if f.buckets > 0 {
			e.Reason = fmt.Sprintf("none of the %d items falls into bucket %s", items, bucket)
			e.Hint = "make fewer buckets"
		}
		if f.buckets > 0 && f.found != nil {
			e.Reason = fmt.Sprintf("none of the %d items is both named and of bucket %s",
				items, bucket)
			e.Hint = "name items of this bucket with `items`, or leave `item_bucket` out"
		}
		return e
	}
	e.Column = f.Clock.Name
	e.Reason = fmt.Sprintf("none of the %d rows matches: %d are within the time bounds",
		f.rows, f.rowsInTime)
	if f.rowsInTime > 0 {
		e.Reason += ", but of other items"
	}
	e.Reason += fmt.Sprintf("; all times are from %s to %s",
		f.Clock.TimeText(f.minTime), f.Clock.TimeText(f.maxTime))
	e.Hint = "choose other bounds with `where`"
	return e
}
