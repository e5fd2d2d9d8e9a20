package tensorcache

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/window"
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

func TestMasksOfPartsOfFilledColumnsAreRefused(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	v := []float64{1, math.NaN(), 3, 4, 5, 6}
	filled := must(c.Put(ctx, "filled", []PutColumn{Values("v", v)},
		LoadOptions{Fill: map[string]any{"v": 0}}))(t)
	defer filled.Close()
	scaled := must(c.Put(ctx, "scaled", []PutColumn{Values("v", []float64{1, 2, 3, 4, 5, 6})},
		LoadOptions{DType: "float64", Scale: map[string]string{"v": "standard"}}))(t)
	defer scaled.Close()
	stored := must(Column[float64](filled, "v"))(t)
	part := must(c.Put(ctx, "part", []PutColumn{Values("w", stored[1:])}, LoadOptions{}))(t)
	defer part.Close()
	ofPart := must(Column[float64](part, "w"))(t)
	for name, test := range map[string]struct {
		values []float64
		want   []float32 // nil if the masks are refused
	}{
		"whole":                    {stored, []float32{1, 0, 1, 1, 1, 1}},
		"part":                     {stored[1:], nil},
		"a part, as a whole":       {ofPart, nil},
		"part of a part":           {ofPart[:3], nil},
		"copy":                     {slices.Clone(stored[1:]), []float32{1, 1, 1, 1, 1}},
		"part of a scaled column":  {must(Column[float64](scaled, "v"))(t)[1:], []float32{1, 1, 1, 1, 1}},
		"whole of a scaled column": {must(Column[float64](scaled, "v"))(t), []float32{1, 1, 1, 1, 1, 1}},
	} {
		d := must(c.Put(ctx, "of", []PutColumn{Values("x", test.values)}, LoadOptions{}))(t)
		w := must(d.Windows(ctx, window.Spec{ContextLength: int64(len(test.values))}))(t)
		f, err := NewFeed[float32](ctx, w, FeedOptions{BatchSize: 1, Parts: []FeedPart{{Part: "observed"}}})
		if test.want == nil {
			if !errors.Is(err, InvalidSpec) ||
				!strings.Contains(err.Error(), `a part or a cast of column "v" of dataset "filled"`) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			for b, err := range f.Epoch(ctx) {
				if err != nil || !slices.Equal(b.Observed.Data, test.want) {
					t.Errorf("%s: %v, %v", name, b.Observed.Data, err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
