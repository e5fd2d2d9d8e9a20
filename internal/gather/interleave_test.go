package gather

import (
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// interleaving is a case of eight columns of 4 bytes that are interleaved into some features of a
// block, between values that must stay.
type interleaving struct {
	length, features, feature, from, row int64
	seed                                 uint32
}

const stays = 0xabadcafe

// guarded returns memory for the columns of a case. Behind each is a page that can be neither read
// nor written.
var guarded = sync.OnceValue(func() (out [maxInterleaved][]uint32) {
	size := os.Getpagesize()
	for i := range out {
		b, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_ANON)
		if err == nil {
			err = unix.Mprotect(b[size:], unix.PROT_NONE)
		}
		if err != nil {
			panic(err)
		}
		out[i] = unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), size/4)
	}
	return out
})

// check moves a case with interleave8, if the processor has it, and without, and compares both with
// values that are moved one by one.
func (l interleaving) check(t interface {
	Helper()
	Fatalf(string, ...any)
}) {
	t.Helper()
	sources := make([][]uint32, maxInterleaved)
	for i := range sources {
		page := guarded()[i]
		// The column ends at the page, so that a read after its last value ends the process.
		sources[i] = page[int64(len(page))-(l.row+l.length-l.from):]
		for j := range sources[i] {
			sources[i][j] = l.seed + uint32(i)<<24 + uint32(j)
		}
	}
	block := func() []uint32 {
		return slices.Repeat([]uint32{stays},
			int(l.length*l.features)+maxInterleaved)
	}
	want := block()
	for i := l.from; i < l.length; i++ {
		for j := range sources {
			want[i*l.features+l.feature+int64(j)] = sources[j][l.row+i-l.from]
		}
	}
	m := newInterleaver[uint32, uint32](Block{Length: l.length, Features: l.features, Dilation: 1},
		sources, l.feature)
	plain := *m
	plain.bases = nil
	for name, m := range map[string]*interleaver[uint32, uint32]{"interleaved": m,
		"one by one": &plain} {
		got := block()
		m.move(unsafe.Pointer(&got[0]), l.row, l.from)
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %+v:\ngot  %x\nwant %x", name, l, got, want)
		}
	}
}

func TestInterleavingEqualsMovingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := interleaving{length: rapid.Int64Range(1, 60).Draw(t, "length"),
			features: rapid.Int64Range(maxInterleaved, 20).Draw(t, "features"),
			row:      rapid.Int64Range(0, 9).Draw(t, "row"), seed: rapid.Uint32().Draw(t, "seed")}
		l.feature = rapid.Int64Range(0, l.features-maxInterleaved).Draw(t, "feature")
		l.from = rapid.Int64Range(0, l.length-1).Draw(t, "from")
		l.check(t)
	})
}

func TestInterleavingPastTheEndPanics(t *testing.T) {
	sources := slices.Repeat([][]uint32{make([]uint32, 10)}, maxInterleaved)
	m := newInterleaver[uint32, uint32](Block{Length: 8, Features: maxInterleaved, Dilation: 1},
		sources, 0)
	for _, row := range []int64{-1, 3, 1 << 40} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("row %d of 10 was read 8 times", row)
				}
			}()
			m.move(unsafe.Pointer(&make([]uint32, 8*maxInterleaved)[0]), row, 0)
		}()
	}
}

func FuzzInterleave(f *testing.F) {
	f.Add([]byte{4, 8, 0, 0, 0, 1})
	f.Add([]byte{97, 9, 1, 3, 5, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var b [8]byte
		copy(b[:], data)
		l := interleaving{length: 1 + int64(b[0]), features: maxInterleaved + int64(b[1]%32),
			row:  int64(b[4]),
			seed: binary.LittleEndian.Uint32(b[4:])}
		l.feature, l.from = int64(b[2])%(l.features-maxInterleaved+1), int64(b[3])%l.length
		l.check(t)
	})
}
