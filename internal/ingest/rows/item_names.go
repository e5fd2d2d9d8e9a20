package rows

import (
	"encoding/json"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// AppendItemName appends the name of a row's item in its canonical form (docs/FORMAT.md).
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

// canonical is the name of an item that somebody wrote, in its canonical form: digits are a number where the column holds
// integers, and a text where it holds text.
func (k *Keys) canonical(raw json.RawMessage) (string, error) {
	parts, err := k.canonicalParts(raw)
	return string(option.AppendParts(nil, parts)), err
}

// CanonicalParts are the values of the name.
func (k *Keys) canonicalParts(raw json.RawMessage) ([]any, error) {
	return CanonicalParts(raw, k.dictionaries)
}

// CanonicalParts returns the values of an item name that a user wrote. words has an entry for each
// column that names an item, nil unless it is a text column.
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
