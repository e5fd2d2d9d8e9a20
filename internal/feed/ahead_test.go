package feed

import (
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/layout"
)

// TestSpansCoverWhatIsRead holds the lines of a span to every byte of every sample, in rows of any
// width that lie any way apart.
func TestSpansCoverWhatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int64Range(1, 40).Draw(t, "width")
		source := layout.Strided[float32]{Width: width, Step: width +
			rapid.Int64Range(0, 40).Draw(t, "gap"), Rows: 1 << 20}
		to := target{length: rapid.Int64Range(1, 200).Draw(t, "length"),
			dilation: rapid.Int64Range(1, 5).Draw(t, "dilation")}
		s := spanOf(source, to)
		if s.n < 1 || s.n > ((to.length-1)*source.Step*4*to.dilation+width*4)/lineBytes+1 {
			t.Fatalf("%d lines", s.n)
		}
		row := rapid.Int64Range(0, 1000).Draw(t, "row")
		end := int64(math.MaxInt64) // of what is fetched ahead of a long one
		if s.n == aheadLines {
			end = row*s.row + s.n*s.step
		}
		fetched := map[int64]bool{}
		for i := range s.n {
			fetched[(row*s.row+i*s.step)/lineBytes] = true
		}
		for i := range to.length {
			first := (row + i*to.dilation) * source.Step * 4
			if first >= end {
				break
			}
			if s.step > lineBytes { // of rows that lie apart, the beginnings
				if !fetched[first/lineBytes] {
					t.Fatalf("sample %d is not fetched", i)
				}
				continue
			}
			for b := first; b < min(first+width*4, end); b++ {
				// the last may begin in the line before
				if line := b / lineBytes; !fetched[line] &&
					line != (row*s.row+s.n*s.step)/lineBytes {
					t.Fatalf("byte %d of sample %d is not fetched", b-first, i)
				}
			}
		}
	})
}

func TestFetchingWhatIsNotMappedDoesNoHarm(t *testing.T) {
	prefetch(nil, lineBytes, 1000)
	value := make([]byte, 1)
	prefetch(unsafe.Pointer(&value[0]), 1<<40, 100)
}
