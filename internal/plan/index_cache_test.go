package plan

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestIndexesAreCachedUpToALimitAndTheNewestAlways(t *testing.T) {
	// 2 million items: a run each, 61 MiB an index, so two are within the bounds and three are not.
	table := window.Table{Offsets: make([]int64, 2_000_001)}
	for i := range table.Offsets {
		table.Offsets[i] = int64(i)
	}
	index, err := window.New(window.Spec{ContextLength: 1}, table)
	if err != nil {
		t.Fatal(err)
	}
	x := cachedIndex{Index: index}
	if want := int64(2_000_000 * 32); x.Bytes() < want || x.Bytes() > want+want/8 {
		t.Fatalf("an index of 2 million runs says %d bytes, want about %d", x.Bytes(), want)
	}
	cached, err := newIndexCache()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		cached.add(strconv.Itoa(i), x)
		cached.add(strconv.Itoa(i), x) // again, as two concurrent requests do
	}
	for i, want := range []bool{false, true, true} {
		if _, ok := cached.get(strconv.Itoa(i)); ok != want {
			t.Errorf("index %d is cached: %t, want %t", i, ok, want)
		}
	}
	if want := 2 * cachedBytes("1", x); cached.bytes != want {
		t.Errorf("%d bytes are counted, want %d", cached.bytes, want)
	}
	alone, err := newIndexCache()
	if err != nil {
		t.Fatal(err)
	}
	alone.bytes = maxCachedBytes // as if the newest took more than the limit
	alone.add("large", x)
	if _, ok := alone.get("large"); !ok {
		t.Error("the newest is not cached")
	}
}

// TestTheKeysOfCachedIndexesCount: requests may name many items, in cuts that are part of the key.
func TestTheKeysOfCachedIndexesCount(t *testing.T) {
	index, err := window.New(window.Spec{ContextLength: 1}, window.Table{Offsets: []int64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	x := cachedIndex{Index: index}
	cached, err := newIndexCache()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0,", 1<<20)
	for i := range 20 {
		cached.add(strconv.Itoa(i)+long, x)
	}
	if n := cached.lru.Len(); n < 2 || n > maxCachedBytes/(9*len(long)) {
		t.Errorf("%d indexes are cached whose keys have %d bytes each", n, len(long))
	}
}
