package feed

import (
	"strconv"
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
	if kept.bytes != 2*x.Bytes() {
		t.Errorf("%d bytes are counted, want %d", kept.bytes, 2*x.Bytes())
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
