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

// interleaving is a case of columns of 4 bytes that are interleaved into some features of a block,
// between values that must stay.
type interleaving struct {
	length, columns, features, feature, from, row int64
	seed                                          uint32
}

const mostColumns = 3*maxInterleaved + 1

const stays = 0xabadcafe

// guarded returns memory for the columns of a case. Behind each is a page that can be neither read
// nor written.
var guarded = sync.OnceValue(func() (out [mostColumns][]uint32) {
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
	sources := make([][]uint32, l.columns)
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
	plain := &interleaver[uint32, uint32]{Block: m.Block, sources: sources, groups: slices.Clone(m.groups)}
	for i := range plain.groups {
		plain.groups[i].vectors = nil
	}
	for name, m := range map[string]*interleaver[uint32, uint32]{"interleaved": m,
		"one by one": plain} {
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
			columns: rapid.Int64Range(1, mostColumns).Draw(t, "columns"),
			row:     rapid.Int64Range(0, 9).Draw(t, "row"), seed: rapid.Uint32().Draw(t, "seed")}
		l.features = l.columns + rapid.Int64Range(0, 3).Draw(t, "other features")
		l.feature = rapid.Int64Range(0, l.features-l.columns).Draw(t, "feature")
		l.from = rapid.Int64Range(0, l.length-1).Draw(t, "from")
		l.check(t)
	})
}

func TestInterleavingPastTheEndPanics(t *testing.T) {
	for _, columns := range []int{2, 7, maxInterleaved, mostColumns} {
		sources := slices.Repeat([][]uint32{make([]uint32, 10)}, columns)
		m := newInterleaver[uint32, uint32](Block{Length: 8, Features: int64(columns), Dilation: 1},
			sources, 0)
		for _, row := range []int64{-1, 3, 1 << 40} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("row %d of 10 was read 8 times, of %d columns", row, columns)
					}
				}()
				m.move(unsafe.Pointer(&make([]uint32, 8*columns)[0]), row, 0)
			}()
		}
	}
}

func FuzzInterleave(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0, 0, 1})
	f.Add([]byte{97, 9, 1, 3, 5, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var b [8]byte
		copy(b[:], data)
		l := interleaving{length: 1 + int64(b[0]), columns: 1 + int64(b[5])%mostColumns,
			row: int64(b[4]), seed: binary.LittleEndian.Uint32(b[4:])}
		l.features = l.columns + int64(b[1]%4)
		l.feature, l.from = int64(b[2])%(l.features-l.columns+1), int64(b[3])%l.length
		l.check(t)
	})
}
