package gather

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/bitset"
)

func TestMasksAgreeWithTheBitOfEachSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Block{
			Length:        rapid.OneOf(rapid.Int64Range(0, 4), rapid.Int64Range(60, 200)).Draw(t, "length"),
			Dilation:      rapid.SampledFrom([]int64{1, 1, 1, 3, 70}).Draw(t, "dilation"),
			ChannelsFirst: rapid.Bool().Draw(t, "channels first"),
		}
		padding := rapid.Int64Range(0, b.Length+1).Draw(t, "padding")
		row := rapid.Int64Range(0, 200).Draw(t, "row")
		rows := row + max(0, b.Length-padding-1)*b.Dilation + 1 + rapid.Int64Range(0, 70).Draw(t, "rows after it")
		b.Features = rapid.SampledFrom([]int64{1, 2, 3, 5, 7, 8, 9, 12, 16, 17, 23, 30}).Draw(t, "features")
		percent := rapid.SampledFrom([]uint64{0, 5, 50, 100}).Draw(t, "set in a hundred")
		random := rapid.Uint64().Draw(t, "seed")
		bits, isSet := make([]bitset.Bits, b.Features), make([][]bool, b.Features)
		for f := range b.Features {
			if rapid.IntRange(0, 3).Draw(t, "bits") > 0 {
				bits[f] = bitset.New(rows)
			}
			for at := range rows {
				random = random*6364136223846793005 + 1442695040888963407
				is := bits[f] != nil && random>>32%100 < percent
				if isSet[f] = append(isSet[f], is); is {
					bits[f].Set(at, at+1)
				}
			}
		}
		if percent == 0 {
			clear(bits)
		}
		observed, missing := NewObservedMask(bits, b), NewMissingMask(bits, b)
		observed.Prefetch(row)
		n := b.Length * b.Features
		// Eight values follow each block: they must stay.
		floats, bools := make([]float32, n+8), make([]byte, n+8)
		blockOf, boolsOf := asBytes(floats)[:4*n], bools[:n]
		dirty := func(b []byte) []byte {
			for i := range b {
				b[i] = 0xcd // of the batch before
			}
			return b
		}
		dirty(asBytes(floats))
		dirty(bools)
		if observed.BlockBytes() != n*4 || missing.BlockBytes() != n {
			t.Fatalf("%d and %d bytes of %d values", observed.BlockBytes(), missing.BlockBytes(), n)
		}
		observed.Copy(blockOf, row, padding)
		missing.Copy(boolsOf, row, padding)
		checkRest := func(rest []byte) {
			if !bytes.Equal(rest, bytes.Repeat([]byte{0xcd}, len(rest))) {
				t.Fatalf("values after the block were written: %v", rest)
			}
		}
		checkRest(asBytes(floats)[4*n:])
		checkRest(bools[n:])
		if step := rapid.Int64Range(-1, b.Length+1).Draw(t, "step"); padding == 0 && row >= step {
			for m, want := range map[*Mask][]byte{observed: blockOf, missing: boolsOf} {
				size := int64(len(want))
				before, next := asBytes(make([]float32, n))[:size], dirty(asBytes(make([]float32, n+8))[:size+8])
				m.Copy(before, max(0, row-step), 0)
				if m.CopyNext(next[:size], before, row, step); !bytes.Equal(next[:size], want) {
					t.Fatalf("after a window %d rows before, the mask is %v, want %v", step, next[:size], want)
				}
				checkRest(next[size:])
			}
		}
		sample, feature := b.strides()
		for i := range b.Length {
			for f := range b.Features {
				var wantObserved float32
				var wantMissing byte
				if i >= padding {
					if isSet[f][row+(i-padding)*b.Dilation] {
						wantMissing = 1
					} else {
						wantObserved = 1
					}
				}
				if at := i*sample + f*feature; floats[at] != wantObserved || bools[at] != wantMissing {
					t.Fatalf("sample %d, feature %d: observed %v and missing %d, want %v and %d", i, f, floats[at],
						bools[at], wantObserved, wantMissing)
				}
			}
		}
	})
}

// asBytes returns the memory of values.
func asBytes(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
}
