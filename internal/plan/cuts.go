package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// resolveCuts parses cuts, in which clients write items as values. The results have item codes.
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

// ParseSplit parses a split whose items are values.
func (w *Windows) ParseSplit(raw json.RawMessage) (window.Split, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return window.Split{}, wire.NewProblem(wire.InvalidSpec,
			"split: got %s, want a JSON object", raw).WithField("split")
	}
	if err := numberField(w.Handle, fields, "split.items"); err != nil {
		return window.Split{}, err
	}
	numbered, err := json.Marshal(fields)
	if err != nil {
		return window.Split{}, err
	}
	return window.ParseSplit(numbered)
}

// numberItems replaces the item values of a cut by item codes. A cut without items stays as it was
// written, so that package window reports its errors.
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

// numberField replaces the values in "items" by codes. It is a list of values, a list of such
// lists, or a list of fractions, which stay.
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
		// package window would name a code, which the client did not write
		for _, code := range numbered[i] {
			if other, ok := part[code]; ok {
				value, err := ItemValue(h.Data, code)
				if err != nil {
					return err
				}
				text, err := json.Marshal(value)
				if err != nil {
					return err
				}
				return &window.SpecError{Field: fmt.Sprintf("items[%d]", i),
					Value:   string(text),
					Allowed: fmt.Sprintf("items once, in one part only; it is in part %d", other)}
			}
			part[code] = i
		}
	}
	var err error
	fields["items"], err = json.Marshal(numbered)
	return err
}
