package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/cespare/xxhash/v2"
)

// digest returns a hash of the content. Equal content gives an equal digest, independent of the
// place in the file and of the time of the load.
func (m *Manifest) digest() (string, error) {
	columns := make([]ManifestColumn, len(m.Columns))
	for i, c := range m.Columns {
		c.Offset, c.Strides, c.Field, c.Statistics = 0, nil, "", nil // derived from the values
		columns[i] = c
	}
	vocab := map[string]string{}
	for name, v := range m.Vocab {
		vocab[name] = v.XXH64
	}
	content := map[string]any{
		"layout": m.Layout, "rows": m.Rows, "item_id": m.ItemID, "time": m.Time, "columns": columns,
		"items": m.Items.XXH64, "vocab": vocab, "recipe": m.Recipe,
	}
	if m.ScaledOf != nil {
		content["scaled_of"] = m.ScaledOf
	}
	b, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// blankChecksum replaces a manifest's own checksum while that checksum is computed.
const blankChecksum = "0000000000000000"

// checksumKey precedes the checksum in a manifest's text. Its indentation distinguishes it from the
// nested fields of the same name.
var checksumKey = []byte("\n \"xxh64\": \"")

// setChecksum computes the checksum of a manifest's text, which contains blankChecksum, writes it
// into the text and returns it.
func setChecksum(text []byte) (sum string) {
	sum = formatHash(xxhash.Sum64(text))
	copy(text[bytes.Index(text, checksumKey)+len(checksumKey):], sum)
	return sum
}

// checksumMatches reports whether a manifest's text is the one that was written. It returns true
// for a manifest without a checksum: early versions wrote none.
func checksumMatches(text []byte) bool {
	at := bytes.Index(text, checksumKey)
	if at < 0 {
		return true
	}
	at += len(checksumKey)
	if len(text) < at+len(blankChecksum) {
		return false
	}
	blank := bytes.Clone(text)
	copy(blank[at:], blankChecksum)
	return formatHash(xxhash.Sum64(blank)) == string(text[at:at+len(blankChecksum)])
}
