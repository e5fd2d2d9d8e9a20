package tensorcache

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// Items returns the number of items. An item's code, as in [Batch.ItemCode], is its number from 0,
// in the order of first rows.
func (d *Dataset) Items() int64 { return d.data.Manifest.Items.Count }

// ItemRows returns the rows of the dataset that belong to an item, half-open: [from, to). It is 0,
// 0 for a code that no item has.
func (d *Dataset) ItemRows(code int64) (from, to int64) {
	if code < 0 || code >= d.Items() {
		return 0, 0
	}
	return d.offsets[code], d.offsets[code+1]
}

// Item returns the value of an item: a string or an int64, a []any of these if several columns name
// items, or nil if the dataset was loaded without item_id. The error is of type ItemNotFound.
func (d *Dataset) Item(code int64) (any, error) {
	release, err := d.acquire()
	if err != nil {
		return nil, err
	}
	defer release()
	if code < 0 || code >= d.Items() {
		return nil, errorf(ItemNotFound, "item_code", "items have codes from 0 to %d, got %d",
			d.Items()-1, code)
	}
	values, err := d.data.Item(code)
	switch {
	case err != nil || len(values) == 0:
		return nil, err
	case len(values) == 1:
		return values[0], nil
	}
	return values, nil
}

// ItemCode returns the code of an item by its value: a string or an integer, a slice of these if
// several columns name items, or nil in a dataset without item_id. The error is of type
// ItemNotFound and lists similar names, or InvalidSpec for a value of another type.
func (d *Dataset) ItemCode(value any) (int64, error) {
	release, err := d.acquire()
	if err != nil {
		return 0, err
	}
	defer release()
	wanted, err := appendItemName(nil, value)
	if err != nil {
		return 0, err
	}
	names, err := d.data.ItemNames()
	if err != nil {
		return 0, err
	}
	var name []byte
	for code := range names.Len() {
		if name = names.AppendJSON(name[:0], code); string(name) == string(wanted) {
			return code, nil
		}
	}
	return 0, d.unknownItem(wanted)
}

// unknownItem returns the error for a name that no item has.
func (d *Dataset) unknownItem(wanted []byte) error {
	e := errorf(ItemNotFound, "item", "no item of dataset %q is named %s", d.name, wanted)
	if len(d.data.Manifest.ItemID) == 0 {
		e.Hint = "the dataset has one item without a name (it was loaded without item_id)"
		return e
	}
	const maxSearched = 10_000
	var names []string
	for code := range min(d.Items(), maxSearched) {
		if v, err := d.data.Item(code); err == nil && len(v) == 1 {
			names = append(names, fmt.Sprint(v[0]))
		}
	}
	name, err := strconv.Unquote(string(wanted))
	if err != nil {
		name = string(wanted)
	}
	if like := near.Names(name, names); len(like) > 0 {
		e.Detail += "; near: " + near.List(like)
	}
	return e
}

// appendItemName appends an item's name in the canonical form of docs/FORMAT.md.
func appendItemName(b []byte, value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return append(b, "null"...), nil
	case v.Kind() == reflect.String:
		return layout.AppendJSONText(b, v.String()), nil
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10), nil
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer:
		return appendItemName(b, v.Elem().Interface())
	case v.Kind() != reflect.Slice && v.Kind() != reflect.Array:
		return nil, errorf(InvalidSpec, "item",
			"an item's value is text, a whole number or a slice of these, got %T", value)
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendItemName(b, v.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// encodeItems returns a list of items' names in JSON.
func encodeItems(values []any) (json.RawMessage, error) {
	if values == nil {
		values = []any{}
	}
	return appendItemName(nil, values)
}
