package tensorcache

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
)

// TestForecastsComeBackInEveryShape inverts stored windows of random columns, steps and items, in
// both shapes, and rows of several items from their first ones on. It compares them with the
// original values.
func TestForecastsComeBackInEveryShape(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	random := rand.New(rand.NewPCG(testseed.Seed(), 1))
	const rows, features = 8, 4 // rows of an item; features of a, b, m[0] and m[1]
	all := []struct {
		name   string
		places []int
	}{{"a", []int{0}}, {"b", []int{1}}, {"m", []int{2, 3}}}
	for range 20 {
		ids := random.Perm(1 + random.IntN(4))
		was := make([][features]float64, len(ids)*rows)
		var id []int64
		var a, b, m []float64
		for i := range was {
			for f := range features {
				was[i][f] = 1 + 99*random.Float64()
			}
			id, a, b = append(id, int64(ids[i/rows])), append(a, was[i][0]), append(b, was[i][1])
			m = append(m, was[i][2], was[i][3])
		}
		var log1p, diff []string
		scale := map[string]string{}
		for _, column := range all {
			if random.IntN(2) > 0 {
				log1p = append(log1p, column.name)
			}
			if random.IntN(2) > 0 {
				diff = append(diff, column.name)
			}
			if random.IntN(2) > 0 {
				scale[column.name] = "standard"
			}
		}
		per := ""
		if len(scale) > 0 {
			per = []string{"column", "item"}[random.IntN(2)]
		}
		d := must(c.Put(ctx, "shapes", []PutColumn{Values("id", id), Values("a", a), Values("b", b),
			Matrix("m", m, 2)}, LoadOptions{ItemID: []string{"id"}, DType: "float64", Scale: scale,
			ScalePer: per, Log1p: log1p, Diff: diff}))(t)
		var names []string
		var places []int
		for _, i := range random.Perm(len(all))[:1+random.IntN(len(all))] {
			names, places = append(names, all[i].name), append(places, all[i].places...)
		}
		values := make([][]float64, features)
		for _, column := range all {
			of := must(Column[float64](d, column.name))(t)
			for f, place := range column.places {
				for i := f; i < len(of); i += len(column.places) {
					values[place] = append(values[place], of[i])
				}
			}
		}
		var stored, want []float64
		add := func(from, to int64) {
			for row := from; row < to; row++ {
				for _, f := range places {
					stored, want = append(stored, values[f][row]), append(want, was[row][f])
				}
			}
		}
		o := InverseOptions{}
		for code := range d.Items() {
			add(code*rows, (code+1)*rows)
			for range rows {
				o.ItemCodes = append(o.ItemCodes, code)
			}
		}
		whole := Part[float64]{Data: stored, Shape: []int{len(was), len(places)}}
		requireNear(t, must(Inverse(d, names, whole, o))(t).Data, want)

		n, length := 1+random.IntN(4), 1+random.IntN(4)
		o, stored, want = InverseOptions{}, nil, nil
		for range n {
			code := random.Int64N(d.Items())
			begin := code*rows + 1 + random.Int64N(3)
			add(begin, begin+int64(length))
			o.ItemCodes = append(o.ItemCodes, code)
			for _, f := range places {
				o.Initial = append(o.Initial, was[begin-1][f])
			}
		}
		shape := []int{n, length, len(places)}
		got := must(Inverse(d, names, Part[float64]{Data: stored, Shape: shape}, o))(t)
		requireNear(t, got.Data, want)
		block := length * len(places)
		one := InverseOptions{Item: must(d.Item(o.ItemCodes[0]))(t), Initial: o.Initial[:len(places)]}
		first := Part[float64]{Data: stored[:block], Shape: shape[1:]}
		requireNear(t, must(Inverse(d, names, first, one))(t).Data, want[:block])
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func requireNear(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d values, want %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-9*math.Abs(want[i])) {
			t.Fatalf("value %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

// TestOneSumOverSeveralItemsIsRefused gives one initial value for rows of two items.
func TestOneSumOverSeveralItemsIsRefused(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	d := must(c.Put(ctx, "sums", []PutColumn{Values("id", []int64{7, 7, 9, 9}),
		Values("y", []float64{1, 3, 5, 8})}, LoadOptions{ItemID: []string{"id"}, DType: "float64",
		Diff: []string{"y"}}))(t)
	defer d.Close()
	rows := Part[float64]{Data: []float64{1, 1, 1}, Shape: []int{3, 1}}
	o := InverseOptions{ItemCodes: []int64{0, 0, 1}, Initial: []float64{5}}
	if _, err := Inverse(d, []string{"y"}, rows, o); !errors.Is(err, InvalidSpec) ||
		!strings.Contains(err.Error(), "initial values for rows of several items") {
		t.Error(err)
	}
	empty := Part[float64]{Shape: []int{2, 0, 1}}
	got := must(Inverse(d, []string{"y"}, empty, InverseOptions{Initial: []float64{1, 2}}))(t)
	requireNear(t, got.Data, nil)
	o.ItemCodes[2] = 0
	requireNear(t, must(Inverse(d, []string{"y"}, rows, o))(t).Data, []float64{6, 7, 8})
}
