package api

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/tensorcache/tensorcache/window"
)

func TestRunsAreReadInPiecesOfAnySize(t *testing.T) {
	runs := make([]window.Run, 1000)
	var want []byte
	for i := range runs {
		runs[i] = window.Run{Item: int64(i), First: -int64(i) << 40, Count: int64(i) * 7}
		for _, v := range []int64{runs[i].Item, runs[i].First, runs[i].Count} {
			want = binary.LittleEndian.AppendUint64(want, uint64(v))
		}
	}
	for name, reader := range map[string]io.Reader{
		"whole":        &runsReader{runs: runs},
		"byte by byte": iotest.OneByteReader(&runsReader{runs: runs}),
		"halves":       iotest.HalfReader(&runsReader{runs: runs}),
	} {
		if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	if err := iotest.TestReader(&runsReader{runs: runs}, want); err != nil {
		t.Error(err)
	}
}
