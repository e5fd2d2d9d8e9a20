package tensorcache

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPutsOfColumnsKeepTheirSteps puts columns of a dataset as they are, in part and as copies, and
// undoes their steps.
func TestPutsOfColumnsKeepTheirSteps(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SampledFrom([]int{5, 3_000}).Draw(r, "rows")
		ids, times := make([]string, 0, 2*rows), make([]int64, 0, 2*rows)
		values := make([]float64, 0, 2*rows)
		for i := range 2 * rows {
			ids, times = append(ids, "ab"[i/rows:][:1]), append(times, int64(i))
			values = append(values, math.Sqrt(float64(i*i%7919)))
		}
		o := LoadOptions{ItemID: []string{"id"}, Time: "t"}
		scaled := o
		scaled.DType, scaled.Scale = "float64", map[string]string{"v": "standard"}
		scaled.ScalePer = rapid.SampledFrom([]string{"column", "item"}).Draw(r, "per")
		if rapid.Bool().Draw(r, "log1p") {
			scaled.Log1p = []string{"v"}
		}
		columns := []PutColumn{Texts("id", ids), Values("t", times), Values("v", values)}
		first := must(c.Put(ctx, "kept", columns, scaled))(t)
		defer first.Close()
		stored := must(Column[float64](first, "v"))(t)
		change := rapid.SampledFrom([]string{"none", "renamed", "copy", "part", "part of the rows"}).
			Draw(r, "change")
		name, sent := "v", stored
		switch change {
		case "renamed":
			name = "w"
		case "copy":
			sent = slices.Clone(stored)
		case "part", "part of the rows":
			sent = stored[1:]
			columns[0], columns[1] = Texts("id", ids[1:]), Values("t", times[1:])
		}
		columns[2] = Values(name, sent)
		second := must(c.Put(ctx, "kept-again", columns, o))(t)
		defer second.Close()
		got, err := second.Inverse(name, stored[:3], "a")
		if strings.HasPrefix(change, "part") {
			if !errors.Is(err, InvalidSpec) || !strings.Contains(err.Error(), "a part or a cast") {
				r.Fatal(err)
			}
			return
		}
		want := values
		if change == "copy" {
			want = stored
		}
		for i, v := range must(got, err)(t) {
			if math.Abs(v-want[i]) > 1e-9*(1+math.Abs(want[i])) {
				r.Fatalf("row %d: got %v, want %v", i, v, want[i])
			}
		}
	})
}
