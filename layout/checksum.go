package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// tile is how many bytes of a column are taken at once: they stay in a core's own cache until everything is done with them.
const tile = 64 << 10

// tiles shows a column's rows from row on, dense, some at a time. stride is the bytes between rows, width the bytes of a row.
func tiles(data []byte, stride, width, row, rows int64, see func(block []byte)) {
	perTile := max(1, tile/width)
	var dense []byte
	for ; row < rows; row += perTile {
		n := min(perTile, rows-row)
		block := data[row*stride:]
		if stride == width {
			see(block[:n*width])
			continue
		}
		dense = slices.Grow(dense[:0], int(n*width))
		for i := range n {
			dense = append(dense, block[i*stride:i*stride+width]...)
		}
		see(dense)
	}
}

func formatHash(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// digest names the content: equal content gives an equal digest, wherever it lies and whenever it was loaded.
func (m *Manifest) digest() (string, error) {
	columns := make([]ManifestColumn, len(m.Columns))
	for i, c := range m.Columns {
		c.Offset, c.Strides, c.Field, c.Statistics = 0, nil, "", nil // which follow from the values
		columns[i] = c
	}
	vocab := map[string]string{}
	for name, v := range m.Vocab {
		vocab[name] = v.XXH64
	}
	b, err := json.Marshal(map[string]any{
		"layout": m.Layout, "rows": m.Rows, "item_id": m.ItemID, "time": m.Time, "columns": columns,
		"items": m.Items.XXH64, "vocab": vocab, "recipe": m.Recipe,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}
