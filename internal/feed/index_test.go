package feed

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestIndexesAreKeptUpToSoManyBytesAndTheNewestAlways(t *testing.T) {
	// 2 million items: a run each, 61 MiB an index, so two are within the bounds and three are not.
	table := window.Table{Offsets: make([]int64, 2_000_001)}
	for i := range table.Offsets {
		table.Offsets[i] = int64(i)
	}
	x, err := window.New(window.Spec{ContextLength: 1}, table)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(2_000_000 * 32); x.Bytes() < want || x.Bytes() > want+want/8 {
		t.Fatalf("an index of 2 million runs says %d bytes, want about %d", x.Bytes(), want)
	}
	kept, err := newIndexes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		kept.add(strconv.Itoa(i), x)
		kept.add(strconv.Itoa(i), x) // once more, as two that asked at once do
	}
	for i, want := range []bool{false, true, true} {
		if _, ok := kept.get(strconv.Itoa(i)); ok != want {
			t.Errorf("index %d is kept: %t, want %t", i, ok, want)
		}
	}
	if want := 2 * keeps("1", x); kept.bytes != want {
		t.Errorf("%d bytes are counted, want %d", kept.bytes, want)
	}
	alone, err := newIndexes()
	if err != nil {
		t.Fatal(err)
	}
	alone.bytes = keptBytes // as if the newest took more than all may
	alone.add("large", x)
	if _, ok := alone.get("large"); !ok {
		t.Error("the newest is not kept")
	}
}

// TestIndexesOfLongCutsAreKeptUpToSoManyBytes: requests may name many items, in cuts that are part
// of what an index is known by.
func TestIndexesOfLongCutsAreKeptUpToSoManyBytes(t *testing.T) {
	x, err := window.New(window.Spec{ContextLength: 1}, window.Table{Offsets: []int64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := newIndexes()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0,", 1<<20)
	for i := range 20 {
		kept.add(strconv.Itoa(i)+long, x)
	}
	if n := kept.lru.Len(); n < 2 || n > keptBytes/(9*len(long)) {
		t.Errorf("%d indexes are kept whose keys have %d bytes each", n, len(long))
	}
}
