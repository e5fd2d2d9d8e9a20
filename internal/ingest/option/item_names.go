package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// ParseBucket parses an item bucket: "3/16" is the fourth of sixteen parts. parts is 0 if text is
// "".
func ParseBucket(text string) (part, parts uint64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, ok := strings.Cut(text, "/")
	part, err1 := strconv.ParseUint(a, 10, 32)
	parts, err2 := strconv.ParseUint(b, 10, 32)
	if !ok || err1 != nil || err2 != nil || part >= parts {
		return 0, 0, &loaderr.OptionError{
			Field: "item_bucket", Value: text,
			Allowed: `a bucket and their number like "3/16", counted from 0`,
		}
	}
	return part, parts, nil
}

// ItemParts parses the name of an item: one value for each id column, a string or a [json.Number].
func ItemParts(raw json.RawMessage, columns int) ([]any, error) {
	refuse := func() ([]any, error) {
		allowed := "a text or a whole number"
		if columns > 1 {
			allowed = fmt.Sprintf("a list of the %d values that name an item", columns)
		}
		return nil, (&loaderr.OptionError{Field: "items", Allowed: allowed}).WithJSON(raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return refuse()
	}
	parts, list := value.([]any)
	if !list {
		parts = []any{value}
	}
	if len(parts) != columns || list && columns == 1 {
		return refuse()
	}
	for _, p := range parts {
		switch p.(type) {
		case string, json.Number:
		default:
			return refuse()
		}
	}
	return parts, nil
}

// AppendParts appends the values of an item's name as JSON: one value by itself, several as a list.
func AppendParts(dst []byte, parts []any) []byte {
	for i, p := range parts {
		switch {
		case len(parts) > 1 && i == 0:
			dst = append(dst, '[')
		case i > 0:
			dst = append(dst, ',')
		}
		switch p := p.(type) {
		case string:
			dst = layout.AppendJSONText(dst, p)
		default:
			dst = fmt.Append(dst, p)
		}
	}
	if len(parts) > 1 {
		dst = append(dst, ']')
	}
	return dst
}
