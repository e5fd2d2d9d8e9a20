package numpy

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// FuzzNpy reads any bytes as a .npy file. If they are accepted, the sizes in the header do not
// exceed the size of the file.
func FuzzNpy(f *testing.F) {
	f.Add([]byte(loadtest.NPY("<f8", "(3,)", false, binary.LittleEndian, []float64{1, 2, 3})))
	f.Add([]byte(loadtest.NPY(
		"[('id', '|S3'), ('v', '>f4', (2,))]", "(1,)", false, binary.LittleEndian,
		make([]byte, 11))))
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, err := readNpyHeader(bytes.NewReader(b), int64(len(b)), npyName)
		if err != nil {
			return
		}
		for _, c := range columns {
			if c.refusal == nil && (c.headerBytes > int64(len(b)) || c.Bytes > int64(len(b)) ||
				c.Bytes < 0) {
				t.Errorf("%+v of %d bytes", c, len(b))
			}
		}
	})
}
