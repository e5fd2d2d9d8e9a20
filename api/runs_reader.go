package api

import (
	"encoding/binary"
	"io"

	"github.com/tensorcache/tensorcache/window"
)

// runBytes is the size of a run in the response: item, first start and count, little-endian i64.
const runBytes = 24

// runsReader encodes runs as they are read, so that ten million of them need no buffer. The runs
// are not mapped memory: they stay valid after the release of the handle.
type runsReader struct {
	runs    []window.Run
	pending []byte // rest of a run that was read in part
	buf     [runBytes]byte
}

func (r *runsReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.pending) == 0 {
			if len(r.runs) == 0 {
				return n, io.EOF
			}
			b := r.buf[:0]
			for _, v := range [...]int64{r.runs[0].Item, r.runs[0].First, r.runs[0].Count} {
				b = binary.LittleEndian.AppendUint64(b, uint64(v))
			}
			r.pending, r.runs = b, r.runs[1:]
		}
		m := copy(p[n:], r.pending)
		r.pending, n = r.pending[m:], n+m
	}
	return n, nil
}
