package tensorcache

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// TestLatestComputesCalendarColumnsAfterTheEnd compares with a dataset that has the rows after the
// end, whose calendar columns the load computed.
func TestLatestComputesCalendarColumnsAfterTheEnd(t *testing.T) {
	c := sharedDaemon(t)
	put := func(name string, rows int) *Dataset {
		t.Helper()
		var items []string
		var times []int64
		var values []float32
		for item, begin := range []int64{5, 17} {
			for i := range rows {
				items, times = append(items, []string{"a", "b"}[item]), append(times, (begin+int64(i))*3600)
				values = append(values, float32(i))
			}
		}
		return must(c.Put(t.Context(), name, []PutColumn{Texts("id", items), Timestamps("t", "s", times),
			Values("y", values)}, LoadOptions{ItemID: []string{"id"}, Time: "t", Sort: true,
			Calendar: []string{"timeF:h", "age"}}))(t)
	}
	short, long := put("short", 10), put("long", 20)
	defer short.Close()
	defer long.Close()
	known, one := []string{"calendar"}, int64(1)
	for _, spec := range []window.Spec{{ContextLength: 5, PredictionLength: 4, KnownColumns: known},
		{ContextLength: 2, PredictionLength: 1, Gap: 1, Dilation: 2, KnownColumns: known},
		{ContextLength: 15, PredictionLength: 2, MinContext: &one, PadValue: -1, KnownColumns: known}} {
		first := int64(0) // the start of an item's first window
		if spec.MinContext != nil {
			first = *spec.MinContext - spec.ContextLength
		}
		latest := must(must(short.Windows(t.Context(), spec))(t).Latest(t.Context()))(t)
		all := must(long.Windows(t.Context(), spec))(t)
		got := must(At[float32](t.Context(), latest, 1, 0))(t)
		var want []float32
		for i, code := range got.ItemCode {
			number := got.Start[i] - first + code*all.Len()/2
			batch := must(At[float32](t.Context(), all, number))(t)
			want = append(want, batch.Known.Data...)
		}
		if !slices.Equal(got.Known.Data, want) {
			t.Errorf("At has %v, want %v", got.Known.Data, want)
		}
		if _, err := NewFeed[float32](t.Context(), latest, FeedOptions{BatchSize: 2,
			Delivery: DeliverLocal}); err == nil {
			t.Error("local delivers rows that the daemon computes")
		}
		f := must(NewFeed[float32](t.Context(), latest, FeedOptions{BatchSize: 2}))(t)
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			half := len(want) / 2 // the feed's order is the other one
			if !slices.Equal(b.Known.Data, slices.Concat(want[half:], want[:half])) {
				t.Errorf("the feed has %v, want %v", b.Known.Data, want)
			}
		}
		f.Close()
	}
}
