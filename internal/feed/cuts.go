package feed

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
	"github.com/tensorcache/tensorcache/window"
)

// resolveCuts reads cuts in which items are values, as clients write them, into cuts of item
// numbers.
func resolveCuts(h *store.Handle, cuts []wire.Cut) ([]window.Cut, error) {
	out := make([]window.Cut, 0, len(cuts))
	for _, raw := range cuts {
		numbered, err := numberItems(h, raw)
		if err != nil {
			return nil, err
		}
		var c window.Cut
		if err := c.UnmarshalJSON(numbered); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// ParseSplit reads a split whose items are values, too.
func (w *Windows) ParseSplit(raw json.RawMessage) (window.Split, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return window.Split{}, wire.NewProblem(wire.InvalidSpec,
			"split: got %s, want a JSON object", raw).WithField("split")
	}
	if err := numberField(w.handle, fields, "split.items"); err != nil {
		return window.Split{}, err
	}
	numbered, err := json.Marshal(fields)
	if err != nil {
		return window.Split{}, err
	}
	return window.ParseSplit(numbered)
}

// numberItems replaces item values by item numbers where a cut has them. A cut that has none stays
// as it was written, so that window sees its faults.
func numberItems(h *store.Handle, raw wire.Cut) (wire.Cut, error) {
	cut, changed := map[string]json.RawMessage{}, false
	if json.Unmarshal(raw, &cut) != nil {
		return raw, nil
	}
	for _, kind := range []string{"where", "split"} {
		fields := map[string]json.RawMessage{}
		if cut[kind] == nil || json.Unmarshal(cut[kind], &fields) != nil || fields["items"] == nil {
			continue
		}
		if err := numberField(h, fields, kind+".items"); err != nil {
			return nil, err
		}
		var err error
		if cut[kind], err = json.Marshal(fields); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return raw, nil
	}
	return json.Marshal(cut)
}

// numberField replaces the values in "items": a list of values, a list of such lists, or of
// fractions, which stay.
func numberField(h *store.Handle, fields map[string]json.RawMessage, field string) error {
	raw := fields["items"]
	if raw == nil || string(raw) == "null" {
		return nil
	}
	if strings.HasPrefix(field, "where") {
		codes, err := itemCodes(h, field, raw)
		if err == nil {
			fields["items"], err = json.Marshal(codes)
		}
		return err
	}
	var lists []json.RawMessage
	if err := json.Unmarshal(raw, &lists); err != nil || len(lists) == 0 ||
		!bytes.HasPrefix(bytes.TrimSpace(lists[0]), []byte("[")) {
		return nil
	}
	numbered, part := make([][]int64, len(lists)), map[int64]int{}
	for i, list := range lists {
		var err error
		if numbered[i], err = itemCodes(h, field, list); err != nil {
			return err
		}
		// window refuses it too, by a number that the client never wrote
		for _, code := range numbered[i] {
			if other, ok := part[code]; ok {
				return &window.SpecError{Field: fmt.Sprintf("items[%d]", i),
					Value:   itemName(h.Data, code),
					Allowed: fmt.Sprintf("items once, in one part only; it is in part %d", other)}
			}
			part[code] = i
		}
	}
	var err error
	fields["items"], err = json.Marshal(numbered)
	return err
}

// itemCodes turns a JSON list of item values into item numbers, in one pass over the items.
func itemCodes(h *store.Handle, field string, raw json.RawMessage) ([]int64, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil || values == nil {
		return nil, wire.NewProblem(wire.InvalidSpec, "%s: got %s, want a list of item values",
			field, raw).WithField(field)
	}
	if len(h.Data.Manifest.Items.Values) == 0 {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"%s: the dataset has no item_id column, so its one series has no name",
			field).WithField(field).WithHint("cut by rows or time, or load it with item_id")
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

// ItemCode is the number of the item that a client named by its value in JSON.
func ItemCode(h *store.Handle, field string, value json.RawMessage) (int64, error) {
	if len(h.Data.Manifest.Items.Values) == 0 {
		return 0, wire.NewProblem(wire.ItemNotFound,
			"%s: the dataset has no item_id column, so its one series has no name",
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

// sameText is the canonical form of JSON that some client wrote: with or without escapes and
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

// canonical is a value's JSON without HTML escapes, as Python's json.dumps(ensure_ascii=False)
// writes it.
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
		p.Detail += "; near: " + strings.Join(like, ", ")
	}
	return p.WithField(field)
}
