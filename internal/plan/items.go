package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// itemCodes returns the codes of a JSON list of item values, in one pass over the items.
func itemCodes(h *store.Handle, field string, raw json.RawMessage) ([]int64, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil || values == nil {
		return nil, wire.NewProblem(wire.InvalidSpec, "%s: got %s, want a list of item values",
			field, raw).WithField(field)
	}
	if len(h.Data.Manifest.Items.Values) == 0 {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"%s: the dataset was loaded without item_id, so its one series has no name",
			field).WithField(field).WithHint("cut by rows or time, or load it with `item_id`")
	}
	wanted := map[string][]int{}
	for i, v := range values {
		key, err := sameText(v)
		if err != nil {
			return nil, err
		}
		wanted[key] = append(wanted[key], i)
	}
	names, err := ItemNames(h)
	if err != nil {
		return nil, err
	}
	codes := make([]int64, len(values))
	var name []byte
	for code := int64(0); code < names.Len() && len(wanted) > 0; code++ {
		name = names.AppendJSON(name[:0], code)
		at, ok := wanted[string(name)]
		if !ok {
			continue
		}
		for _, i := range at {
			codes[i] = code
		}
		delete(wanted, string(name))
	}
	for value := range wanted {
		return nil, unknownItem(h.Data, field, value)
	}
	return codes, nil
}

// ItemCode returns the code of the item with a value, which is JSON.
func ItemCode(h *store.Handle, field string, value json.RawMessage) (int64, error) {
	if len(h.Data.Manifest.Items.Values) == 0 {
		return 0, wire.NewProblem(wire.ItemNotFound,
			"%s: the dataset was loaded without item_id, so its one series has no name",
			field).WithField(field).WithHint("leave %s out: all rows are of one series", field)
	}
	if !json.Valid(value) {
		return 0, wire.NewProblem(wire.InvalidRequest, "%s: got %q, want an item's value as JSON",
			field, value).WithField(field).WithHint(`a text stands in quotes: "a"`)
	}
	codes, err := itemCodes(h, field, slices.Concat([]byte("["), value, []byte("]")))
	if err != nil {
		return 0, err
	}
	return codes[0], nil
}

// sameText returns the canonical form of a JSON value. Clients may write it with escapes and
// spaces.
func sameText(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", err
	}
	return canonical(value)
}

// canonical returns a value's JSON without HTML escapes, as Python's
// json.dumps(ensure_ascii=False) writes it.
func canonical(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func unknownItem(d *layout.Data, field, value string) error {
	var names []string
	for code := range min(d.Manifest.Items.Count, 10_000) {
		if v, err := ItemValue(d, code); err == nil {
			names = append(names, fmt.Sprint(v))
		}
	}
	p := wire.NewProblem(wire.ItemNotFound, "%s: no item is named %s", field, value).
		WithHint("data.items in Python and GET /v1/datasets/NAME/items list them")
	if like := near.Names(strings.Trim(value, `"`), names); len(like) > 0 {
		p.Detail += "; near: " + near.List(like)
	}
	return p.WithField(field)
}

// Offsets returns the first row of each item of a generation, and at the end the number of rows.
func Offsets(h *store.Handle) ([]int64, error) {
	offsets, err := h.Derived("offsets", func() (any, error) { return h.Data.ItemOffsets() })
	if err != nil {
		return nil, err
	}
	return offsets.([]int64), nil
}

// ItemNames returns the names of a generation's items, which are checked once.
func ItemNames(h *store.Handle) (*layout.ItemNames, error) {
	names, err := h.Derived("item names", func() (any, error) { return h.Data.ItemNames() })
	if err != nil {
		return nil, err
	}
	return names.(*layout.ItemNames), nil
}

// ItemValue returns an item's name as in JSON: nil without item_id, one value, or a list for
// several id columns.
func ItemValue(d *layout.Data, code int64) (any, error) {
	values, err := d.Item(code)
	if err != nil {
		return nil, err
	}
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
		return values[0], nil
	}
	return values, nil
}

// itemName returns what messages call an item: its value, or "the series" if there is no item_id.
func itemName(d *layout.Data, item int64) string {
	value, err := ItemValue(d, item)
	switch {
	case err != nil:
		return fmt.Sprintf("item number %d", item)
	case value == nil:
		return "the series"
	}
	return fmt.Sprintf("item %v", value)
}
