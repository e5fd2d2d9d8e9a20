package gather

import (
	"fmt"
	"testing"

	"github.com/tensorcache/tensorcache/internal/bitset"
)

// BenchmarkMask makes masks of 96 rows.
func BenchmarkMask(b *testing.B) {
	for _, features := range []int64{1, 7, 8, 21} {
		bits := make([]bitset.Bits, features)
		for f := range bits {
			bits[f] = bitset.New(1 << 12)
			for row := range int64(1 << 12) {
				if (row*7919+int64(f)*31)%20 == 0 {
					bits[f].Set(row, row+1)
				}
			}
		}
		for _, first := range []bool{false, true} {
			m := NewObservedMask(bits, Block{Length: 96, Features: features, Dilation: 1, ChannelsFirst: first})
			block := asBytes(make([]float32, 96*features))
			b.Run(fmt.Sprintf("features=%d/channels_first=%t", features, first), func(b *testing.B) {
				b.SetBytes(int64(len(block)))
				for row := int64(0); b.Loop(); row = (row + 1) & 2047 {
					m.Copy(block, row, 0)
				}
			})
		}
	}
}
