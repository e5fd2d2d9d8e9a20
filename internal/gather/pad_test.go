package gather

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

func TestValueBytes(t *testing.T) {
	for _, c := range []struct {
		dtype layout.DType
		v     float64
		want  string // in hex
	}{
		{layout.Float16, -1, "00bc"}, {layout.Float16, 65519, "ff7b"},
		{layout.Float32, 0.1, "cdcccc3d"}, {layout.Float32, math.NaN(), "0000c07f"},
		{layout.Float16, math.NaN(), "007e"}, {layout.Float64, math.NaN(), "000000000000f87f"},
		{layout.Float64, -1e300, "9c7500883ce437fe"},
		{layout.Int8, -128, "80"}, {layout.Int16, -2, "feff"}, {layout.Int32, 1 << 30, "00000040"},
		{layout.Int64, -1 << 63, "0000000000000080"},
		{layout.Uint8, 255, "ff"}, {layout.Uint16, 65535, "ffff"}, {layout.Uint32, 1<<32 - 1, "ffffffff"},
		{layout.Uint64, 1 << 63, "0000000000000080"}, {layout.Bool, 1, "01"},
	} {
		if got := hex.EncodeToString(valueBytes(c.dtype, c.v)); got != c.want {
			t.Errorf("%v as %s is %s, want %s", c.v, c.dtype, got, c.want)
		}
	}
}

func TestPadWritesTheFirstSamples(t *testing.T) {
	for _, c := range []struct {
		channelsFirst bool
		padding       int64
		want          string
	}{
		{false, 2, "7777777700000000"[:12]}, {true, 2, "777700777700"}, {false, 0, "000000000000"},
		{true, -3, "000000000000"}, {false, 9, "777777777777"}, {true, 3, "777777777777"},
	} {
		p := &Part{block: Block{Length: 3, Features: 2, ChannelsFirst: c.channelsFirst},
			pad: []byte{0x77}}
		block := make([]byte, 6)
		p.Pad(block, c.padding)
		if got := hex.EncodeToString(block); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
