package feed

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// publishPatchwork publishes "patchwork": float32 columns a and c with a float64 column b between
// them. A value of a is missing.
func (env *testEnv) publishPatchwork(t tb) {
	data := &drawnDataset{layout: layout.Columns, rows: []int64{40, 20}, names: []string{"x", "y"},
		values: map[string][][]float64{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		dtype := layout.Float32
		if name == "b" {
			dtype = layout.Float64
		}
		data.columns = append(data.columns, layout.Column{Name: name, Role: layout.RoleValue,
			DType: dtype})
		for i := range 60 {
			data.values[name] = append(data.values[name], []float64{float64(i)})
		}
	}
	data.values["a"][7][0] = math.NaN()
	data.publish(t, env, "patchwork")
}

func TestImpossibleViewsAreRefusedWithAReason(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishPatchwork(t)
	cd := []string{"c", "d"}
	for name, test := range map[string]struct {
		change []func(map[string]any)
		says   string
	}{
		"shuffle": {changes(spec("columns", cd), options("order", "shuffle")),
			`order "shuffle" scatters windows`},
		"lanes": {changes(spec("columns", cd, "stride", 4), options("order", "lanes")),
			`order "lanes" scatters windows`},
		"padding": {changes(spec("columns", cd, "min_context", 1)), "min_context 1 pads windows"},
		"conversion": {changes(spec("columns", []string{"b"})),
			`column "b" is stored as float64 and asked for as float32`},
		"missing value": {changes(spec("columns", []string{"a"}, "missing_value", 0)),
			`missing_value 0 would replace values of column "a"`},
		"gaps": {changes(spec("columns", []string{"a", "c", "d"})),
			"the 3 columns of the context do not lie evenly apart"},
		"backwards": {changes(spec("columns", []string{"d", "c"})),
			"the 2 columns of the context do not lie evenly apart"},
		"target": {changes(spec("context_columns", cd, "target_columns", []string{"b"})),
			`column "b" is stored as float64`},
	} {
		r := request("patchwork", append(test.change, with("delivery", batch.View))...)
		p := env.refuse(t, r)
		if p.Type != wire.InvalidSpec || p.Field != "delivery" ||
			!strings.Contains(p.Detail, test.says) {
			t.Errorf("%s: %+v, want %q", name, p, test.says)
		}
		tr := env.attach(t,
			request("patchwork",
				append(test.change, with("delivery", batch.Auto), with("views", true))...))
		if tr.Delivery != batch.Slot || tr.Path == batch.PathView {
			t.Errorf("%s: auto chose %s by %s", name, tr.Delivery, tr.Path)
		}
		tr.close()
	}
}

// TestAutoChoosesViewsIfNearlyAllBatchesCanBeViews serves items of 35 and 15 windows.
func TestAutoChoosesViewsIfNearlyAllBatchesCanBeViews(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishPatchwork(t)
	for _, test := range []struct {
		order string
		size  int
		views bool
		want  string
	}{
		{"sequential", 6, true, batch.View}, {"sequential", 7, true, batch.Slot},
		{"random_start", 7, true, batch.View}, {"random_start", 7, false, batch.Slot},
		{"shuffle", 6, true, batch.Slot},
	} {
		r := request("patchwork", spec("columns", []string{"c", "d"}),
			options("order", test.order, "batch_size", test.size), with("views", test.views))
		tr := env.attach(t, r)
		if tr.Delivery != test.want {
			t.Errorf("%+v: auto chose %s", test, tr.Delivery)
		}
		tr.close()
	}
	masked := env.attach(t, request("patchwork", spec("columns", []string{"c", "d"}), with("views", true),
		parts("name", "x", "part", "observed")))
	if masked.Delivery != batch.Slot {
		t.Errorf("auto chose %s with a mask, which a client would make from the values", masked.Delivery)
	}
	masked.close()
}
