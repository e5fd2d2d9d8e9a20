package gather

import (
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/layout"
)

// TestLineRangesCoverWhatIsRead compares the lines of a range with every byte of every sample, in
// rows of any width and distance.
func TestLineRangesCoverWhatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int64Range(1, 40).Draw(t, "width")
		source := layout.Strided[float32]{Width: width, Step: width +
			rapid.Int64Range(0, 40).Draw(t, "gap"), Rows: 1 << 20}
		b := Block{Length: rapid.Int64Range(1, 200).Draw(t, "length"),
			Dilation: rapid.Int64Range(1, 5).Draw(t, "dilation")}
		r := newLineRange(source, b)
		if r.lines < 1 ||
			r.lines > ((b.Length-1)*source.Step*4*b.Dilation+width*4)/lineBytes+1 {
			t.Fatalf("%d lines", r.lines)
		}
		row := rapid.Int64Range(0, 1000).Draw(t, "row")
		end := int64(math.MaxInt64) // where the lines of a long range end
		if r.lines == maxLines {
			end = row*r.row + r.lines*r.step
		}
		fetched := map[int64]bool{}
		for i := range r.lines {
			fetched[(row*r.row+i*r.step)/lineBytes] = true
		}
		for i := range b.Length {
			first := (row + i*b.Dilation) * source.Step * 4
			if first >= end {
				break
			}
			if r.step > lineBytes { // only the beginnings of rows with gaps between them
				if !fetched[first/lineBytes] {
					t.Fatalf("sample %d is not fetched", i)
				}
				continue
			}
			for at := first; at < min(first+width*4, end); at++ {
				// the last may begin in the line before
				if line := at / lineBytes; !fetched[line] &&
					line != (row*r.row+r.lines*r.step)/lineBytes {
					t.Fatalf("byte %d of sample %d is not fetched", at-first, i)
				}
			}
		}
	})
}

func TestPrefetchOfUnmappedMemoryIsHarmless(t *testing.T) {
	prefetch(nil, lineBytes, 1000)
	value := make([]byte, 1)
	prefetch(unsafe.Pointer(&value[0]), 1<<40, 100)
}
