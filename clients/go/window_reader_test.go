package tensorcache

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// TestLocalBatchesEqualThoseOfTheDaemon compares DeliverLocal with DeliverSlot for any number of
// columns, of one dtype or several, adjacent or not.
func TestLocalBatchesEqualThoseOfTheDaemon(t *testing.T) {
	const rows = 60
	c, least, replacement := sharedDaemon(t), int64(2), -3.0
	var columns []PutColumn
	var names []string
	for i := range 11 {
		values := make([]float32, rows)
		doubles := make([]float64, rows)
		for k := range values {
			values[k] = float32(10*k + i)
			doubles[k] = float64(10*k+i) / 3
		}
		name := fmt.Sprintf("c%d", i)
		if names = append(names, name); i == 5 {
			columns = append(columns, Values(name, doubles))
		} else {
			columns = append(columns, Values(name, values))
		}
	}
	for _, l := range []string{"columns", "packed"} {
		for _, dtype := range []any{nil, "float64", map[string]string{"*": "float16"}} {
			d := must(c.Put(t.Context(), "numbers", columns,
				LoadOptions{Layout: l, DType: dtype}))(t)
			t.Cleanup(func() { d.Close() })
			for _, n := range []int{1, 3, 4, 5, 8, 11} {
				for _, spec := range []window.Spec{
					{ContextLength: 7, PredictionLength: 3, Columns: names[:n]},
					{ContextLength: 7, PredictionLength: 2, Dilation: 2, Stride: 3,
						MinContext: &least, ContextColumns: names[11-n:], TargetColumns: names[:1],
						KnownColumns: names[1:3]},
					{ContextLength: 7, PredictionLength: 2, Overlap: 6, MinContext: &least, Columns: names[:n],
						KnownColumns: names[2:4], TargetColumns: names[:1], PadValue: math.NaN(),
						MissingValue: &replacement},
				} {
					w := must(d.Windows(t.Context(), spec))(t)
					for _, first := range []bool{false, true} {
						o := FeedOptions{BatchSize: 9, Order: "shuffle", ChannelsFirst: first}
						want := epochParts(t, w, o)
						o.Delivery = DeliverLocal
						if got := epochParts(t, w, o); !slices.Equal(got, want) {
							t.Errorf("%s, %v, %d columns, channels first %t: %v, want %v", l, dtype,
								n, first, got, want)
						}
					}
				}
			}
		}
	}
}

// epochParts returns shapes and hashes of the parts of an epoch's batches.
func epochParts(t *testing.T, w *Windows, o FeedOptions) (out []string) {
	t.Helper()
	f := must(NewFeed[float32](t.Context(), w, o))(t)
	defer f.Close()
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]casePart{}
		addPart(parts, "context", b.Context)
		addPart(parts, "target", b.Target)
		addPart(parts, "known", b.Known)
		addPart(parts, "mask", b.Mask)
		out = append(out, fmt.Sprint(parts))
	}
	return out
}
