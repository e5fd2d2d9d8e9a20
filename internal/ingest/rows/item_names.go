package rows

import (
	"encoding/json"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// AppendItemName appends the canonical name of a row's item to dst (see docs/FORMAT.md).
func (k *Keys) AppendItemName(dst []byte, row int64) []byte {
	parts := make([]any, len(k.Columns))
	for i, value := range k.Columns {
		if v := value(row); k.dictionaries[i] != nil {
			parts[i] = k.dictionaries[i][v]
		} else {
			parts[i] = v
		}
	}
	return option.AppendParts(dst, parts)
}

// canonical returns the canonical form of an item name that a user wrote. Digits become a number if
// the column is an integer column, and a text if it is a text column.
func (k *Keys) canonical(raw json.RawMessage) (string, error) {
	parts, err := k.canonicalParts(raw)
	return string(option.AppendParts(nil, parts)), err
}

// canonicalParts returns the values of an item name that a user wrote, one per item_id column.
func (k *Keys) canonicalParts(raw json.RawMessage) ([]any, error) {
	return CanonicalParts(raw, k.dictionaries)
}

// CanonicalParts returns the values of an item name that a user wrote. dictionaries has one entry
// per item_id column: the dictionary of a text column, nil for an integer column.
func CanonicalParts(raw json.RawMessage, dictionaries [][]string) ([]any, error) {
	parts, err := option.ItemParts(raw, len(dictionaries))
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			if n, err := strconv.ParseInt(p, 10, 64); err == nil && dictionaries[i] == nil {
				parts[i] = n
			}
		case json.Number:
			if dictionaries[i] != nil {
				parts[i] = p.String()
			}
		}
	}
	return parts, nil
}
