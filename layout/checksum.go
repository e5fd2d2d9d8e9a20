package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// tileBytes is the size of the blocks in which columns are processed. A block stays in a core's own
// cache until all steps have read it.
const tileBytes = 64 << 10

// eachTile calls visit with the rows from row to rows-1 of a column, as contiguous blocks of about
// tileBytes. stride is the bytes between row starts, and width the bytes of a row. A block is valid
// until visit returns.
func eachTile(data []byte, stride, width, row, rows int64, visit func(block []byte)) {
	perTile := max(1, tileBytes/width)
	var dense []byte
	for ; row < rows; row += perTile {
		n := min(perTile, rows-row)
		block := data[row*stride:]
		if stride == width {
			visit(block[:n*width])
			continue
		}
		dense = slices.Grow(dense[:0], int(n*width))
		for i := range n {
			dense = append(dense, block[i*stride:i*stride+width]...)
		}
		visit(dense)
	}
}

func formatHash(sum uint64) string { return fmt.Sprintf("%016x", sum) }

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

// hashFrame returns the checksum of the bytes of an Arrow file before its first buffer and after
// its last one. They contain the schema and the offsets that other readers use.
func hashFrame(f *os.File) (string, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	spans, err := arrowfile.Buffers(f, st.Size())
	if err != nil {
		return "", err
	}
	first, end := st.Size(), int64(0)
	for _, s := range spans {
		if s.Bytes > 0 {
			first, end = min(first, s.Offset), max(end, s.Offset+s.Bytes)
		}
	}
	h := xxhash.New()
	if _, err = io.Copy(h, io.NewSectionReader(f, 0, first)); err == nil && first < st.Size() {
		_, err = io.Copy(h, io.NewSectionReader(f, end, st.Size()-end))
	}
	return formatHash(h.Sum64()), err
}
