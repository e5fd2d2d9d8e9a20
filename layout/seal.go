package layout

import (
	"bytes"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
)

// noSeal stands for a manifest's own checksum while it is taken.
const noSeal = "0000000000000000"

// sealKey is where the checksum stands in a manifest's text: of all fields of that name the only one so little indented.
var sealKey = []byte("\n \"xxh64\": \"")

// seal writes a manifest's own checksum into its text, in which noSeal stands for it.
func seal(text []byte) (sum string) {
	sum = formatHash(xxhash.Sum64(text))
	copy(text[bytes.Index(text, sealKey)+len(sealKey):], sum)
	return sum
}

// sealed tells whether a manifest's text is the one that was written. Those of before there was a seal are.
func sealed(text []byte) bool {
	at := bytes.Index(text, sealKey)
	if at < 0 {
		return true
	}
	at += len(sealKey)
	if len(text) < at+len(noSeal) {
		return false
	}
	blank := bytes.Clone(text)
	copy(blank[at:], noSeal)
	return formatHash(xxhash.Sum64(blank)) == string(text[at:at+len(noSeal)])
}

// hashFrame is the checksum of what of an Arrow file is before its first buffer and behind its last: its schema and where all is, which
// other readers go by.
func hashFrame(f *os.File) (string, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	spans, err := locate(f, st.Size())
	if err != nil {
		return "", err
	}
	first, end := st.Size(), int64(0)
	for _, s := range spans {
		if s.bytes > 0 {
			first, end = min(first, s.offset), max(end, s.offset+s.bytes)
		}
	}
	h := xxhash.New()
	if _, err = io.Copy(h, io.NewSectionReader(f, 0, first)); err == nil && first < st.Size() {
		_, err = io.Copy(h, io.NewSectionReader(f, end, st.Size()-end))
	}
	return formatHash(h.Sum64()), err
}
