package gather

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// TestCopyValuesWritesExactlyTheDestination copies bytes between two ranges of memory, each before
// a page that can be neither read nor written. It draws any offsets in their pages,
// also those with which REP MOVSB is slow.
func TestCopyValuesWritesExactlyTheDestination(t *testing.T) {
	memory := func(i int) []byte {
		return unsafe.Slice((*byte)(unsafe.Pointer(&guarded()[i][0])), 4*len(guarded()[i]))
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(minRepBytes-8, minRepBytes+8),
			rapid.IntRange(0, 4000)).Draw(t, "n")
		src, dst := memory(0), memory(1)
		for i := range src {
			src[i], dst[i] = byte(i*7+n), 0xab
		}
		from := rapid.IntRange(0, len(src)-n).Draw(t, "from")
		to := min(max(from+rapid.IntRange(-200, 200).Draw(t, "further"), 0), len(dst)-n)
		copyValues(dst[to:to+n], src[from:from+n])
		if !bytes.Equal(dst[to:to+n], src[from:from+n]) {
			t.Fatal("the copy differs")
		}
		if rest := len(dst) - n; bytes.Count(dst[:to], []byte{0xab})+
			bytes.Count(dst[to+n:], []byte{0xab}) != rest {
			t.Fatal("bytes outside the destination were written")
		}
	})
}

func TestCopyValuesCopiesTheShorterLength(t *testing.T) {
	src := bytes.Repeat([]byte{1}, 3*minRepBytes)
	for _, n := range []int{minRepBytes, 3 * minRepBytes, 5 * minRepBytes} {
		dst := make([]byte, n)
		if copyValues(dst, src); bytes.Count(dst, []byte{1}) != min(n, len(src)) {
			t.Errorf("%d bytes of %d are there", bytes.Count(dst, []byte{1}), n)
		}
	}
}

func TestContiguousRowsRefuseOtherRows(t *testing.T) {
	rows := []byte{0, 1, 2, 3, 4, 5}
	p := contiguousRows{unsafe.Pointer(&rows[0]), 2, 3}
	for _, test := range []struct {
		row, n int64
		want   string
	}{{0, 3, "\x00\x01\x02\x03\x04\x05"}, {2, 1, "\x04\x05"}, {3, 0, ""}, {1, 3, "refused"},
		{-1, 1, "refused"}, {4, 0, "refused"}, {0, -1, "refused"}, {1, 1<<63 - 1, "refused"}} {
		got := make([]byte, 6)
		refused := func() (refused bool) {
			defer func() { refused = recover() != nil }()
			p.copy(unsafe.Pointer(&got[0]), test.row, test.n)
			return
		}()
		if want := append([]byte(test.want),
			make([]byte, 6)...); refused != (test.want == "refused") || !refused &&
			!bytes.Equal(got, want[:6]) {
			t.Errorf("%d rows from %d on: got %v, refused %t", test.n, test.row, got, refused)
		}
	}
}
