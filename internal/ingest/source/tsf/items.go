package tsf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// item is an attribute in the role of an item. Integers that are not loaded as text are equal if their
// values are.
type item struct {
	attribute int
	isText    bool
}

// possibleItems returns the attributes that can be items.
func (f *file) possibleItems() (out []item) {
	for i, a := range f.attributes {
		if a.kind != dateAttribute && !f.decimals[i] {
			out = append(out, item{i, a.kind == stringAttribute})
		}
	}
	return out
}

// itemOption returns the option that makes items of attributes.
func (f *file) itemOption(items []item) string {
	var names []string
	for _, x := range items {
		names = append(names, f.attributes[x.attribute].name)
	}
	return loaderr.Option("item_id", names)
}

// seed is that of all hashes.
var seed = maphash.MakeSeed()

// hash returns a hash of an attribute, the same for all texts of an integer.
func (a attribute) hash(cell []byte) uint64 {
	if a.kind == numericAttribute {
		if v, ok := textvalue.ParseInt(bytes.TrimSpace(cell)); ok {
			return maphash.Bytes(seed, binary.LittleEndian.AppendUint64(nil, uint64(v)))
		}
	}
	return maphash.Bytes(seed, cell)
}

// checkItems refuses two series with the same items, and several series without items.
func (f *file) checkItems(items []item) error {
	if len(items) == 0 && f.series > 1 {
		return &loaderr.SourceError{Path: f.Path(),
			Reason: fmt.Sprintf("has %d series, and no attribute is an item", f.series), Hint: f.HintNames()}
	}
	seen := make(map[uint64]int64, f.series)
	for n := range f.series {
		key := uint64(0)
		for _, x := range items {
			key = bits.RotateLeft64(key, 1) ^ f.hashes[n*int64(len(f.attributes))+int64(x.attribute)]
		}
		for before, ok := seen[key]; ok; before, ok = seen[key] {
			if same, err := f.haveSame(items, before, n); err != nil {
				return err
			} else if same {
				return f.sameItems(items, before, n)
			}
			key++ // other items with this hash, as the texts 1 and 01
		}
		seen[key] = n
	}
	return nil
}

// haveSame reports whether two series have the same items.
func (f *file) haveSame(items []item, before, n int64) (bool, error) {
	a, err := f.attributesOf(f.seriesSegment(before))
	if err != nil {
		return false, err
	}
	b, err := f.attributesOf(f.seriesSegment(n))
	if err != nil {
		return false, err
	}
	for _, x := range items {
		v, isInt := textvalue.ParseInt(bytes.TrimSpace(a[x.attribute]))
		w, _ := textvalue.ParseInt(bytes.TrimSpace(b[x.attribute]))
		if x.isText || !isInt {
			isInt = bytes.Equal(a[x.attribute], b[x.attribute])
		}
		if v != w || !isInt {
			return false, nil
		}
	}
	return true, nil
}

// sameItems is the error for a series with the items of one before.
func (f *file) sameItems(items []item, before, n int64) error {
	s := f.seriesSegment(n)
	cells, err := f.attributesOf(s)
	if err != nil {
		return err
	}
	a := items[0].attribute
	e := f.valueError(f.attributes[a].name, bytes.TrimSpace(cells[a]),
		fmt.Sprintf("names the series of line %d, too", f.seriesSegment(before).line),
		"give each series a name of its own", s)
	possible := f.possibleItems()
	if same, err := f.haveSame(possible, before, n); err == nil && !same {
		e.Hint += ", or name the series by attributes with " + f.itemOption(possible)
	}
	return e
}
