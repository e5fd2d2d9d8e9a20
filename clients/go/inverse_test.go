package tensorcache

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// TestInverseOfTargetsIsTheLoadedValues inverts stored targets as if they were predictions. For
// columns stored as differences it passes the value before the first one.
func TestInverseOfTargetsIsTheLoadedValues(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	const rows, features = 12, 4 // of an item; v, w, m[0], m[1]
	ids, times := make([]string, 0, 2*rows), make([]int64, 0, 2*rows)
	v, w, m := make([]float64, 0, 2*rows), make([]float64, 0, 2*rows), make([]float64, 0, 4*rows)
	was := make([][features]float64, 0, 2*rows)
	for i := range 2 * rows {
		x := float64(i)
		row := [features]float64{3 + x*x/7, 100 - 2*x, math.Sqrt(x), 5 * x}
		ids, times, was = append(ids, "ab"[i/rows:][:1]), append(times, int64(i)), append(was, row)
		v, w, m = append(v, row[0]), append(w, row[1]), append(m, row[2], row[3])
	}
	d := must(c.Put(ctx, "undo", []PutColumn{Texts("id", ids), Values("t", times), Values("v", v),
		Values("w", w), Matrix("m", m, 2)}, LoadOptions{
		ItemID: []string{"id"}, Time: "t", DType: "float64", Scale: map[string]string{"v": "minmax",
			"w": "standard", "m": "maxabs"}, ScalePer: "item",
		Log1p: []string{"v"}, Diff: []string{"v", "m"},
	}))(t)
	defer d.Close()
	windows := must(
		d.Windows(ctx, window.Spec{ContextLength: 3, PredictionLength: 2, DType: "float64",
			MaxMissing: window.MaxMissing{Any: true}}))(t)
	numbers := make([]int64, windows.Len())
	for i := range numbers {
		numbers[i] = int64(i)
	}
	b := must(At[float64](ctx, windows, numbers...))(t)
	columns, first := windows.Features().Target, b.Rows()
	if len(columns) != features {
		t.Fatal(columns)
	}
	var before []float64
	for _, row := range first {
		before = append(before, was[row+2][:]...)
	}
	named := []string{"v", "w", "m"}
	undone := must(Inverse(d, named, b.Target, InverseOptions{ItemCodes: b.ItemCode, Initial: before}))(t)
	for i, row := range first {
		for k, got := range undone.Window(i) {
			if want := was[row+3+int64(k/features)][k%features]; !(math.Abs(got-want) < 1e-9*(1+
				math.Abs(want))) {
				t.Fatalf("window %d, value %d: got %v, want %v", i, k, got, want)
			}
		}
	}
	for name, err := range map[string]error{
		"no item":      errorOf(Inverse(d, named, b.Target, InverseOptions{Initial: before})),
		"no beginning": errorOf(Inverse(d, named, b.Target, InverseOptions{ItemCodes: b.ItemCode})),
		"few codes": errorOf(
			Inverse(d, named, b.Target, InverseOptions{ItemCodes: b.ItemCode[1:], Initial: before})),
		"no such code": errorOf(
			Inverse(d, named[1:2], Part[float64]{Data: []float64{1}, Shape: []int{1, 1}},
				InverseOptions{ItemCodes: []int64{2}})),
		"few initial": errorOf(
			Inverse(d, named, b.Target, InverseOptions{ItemCodes: b.ItemCode, Initial: before[1:]})),
		"a shape": errorOf(
			Inverse(d, named[:2], b.Target, InverseOptions{ItemCodes: b.ItemCode, Initial: before})),
		"no rows": errorOf(
			Inverse(d, named[:1], Part[float64]{Data: []float64{1}, Shape: []int{1}},
				InverseOptions{Item: "a"})),
		"no columns": errorOf(Inverse(d, nil, b.Target, InverseOptions{})),
	} {
		if !errors.Is(err, InvalidSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Inverse("w", nil, "c"); !errors.Is(err, ItemNotFound) {
		t.Error(err)
	}
	if _, err := d.Inverse("x", nil, "a"); !errors.Is(err, ColumnNotFound) {
		t.Error(err)
	}
}

// TestInverseDoesNotUndoWinsorize inverts a column whose values were clipped at quantiles per item.
func TestInverseDoesNotUndoWinsorize(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	d := must(c.Put(ctx, "winsorized", []PutColumn{
		Texts("id", []string{"a", "a", "a", "a", "b", "b", "b"}),
		Values("v", []float64{-90, 1, 2, 30, 0, 4, 8})}, LoadOptions{
		ItemID: []string{"id"}, DType: "float64", ScalePer: "item",
		Winsorize: map[string][2]float64{"v": {0.5, 0.75}}, Scale: "minmax",
	}))(t)
	defer d.Close()
	want := map[string][]float64{"a": {1.5, 1.5, 2, 9}, "b": {4, 4, 6}}
	stored := must(Column[float64](d, "v"))(t)
	for item, rows := range map[string][]float64{"a": stored[:4], "b": stored[4:]} {
		got := must(d.Inverse("v", rows, item))(t)
		for i := range got {
			if math.Abs(got[i]-want[item][i]) > 1e-12 {
				t.Errorf("item %s: %v, want %v", item, got, want[item])
				break
			}
		}
	}
}

// TestKeptLiteralsInvert undoes the steps of testdata/literals, whose fill value and clip bounds
// are integers beyond 2^53.
func TestKeptLiteralsInvert(t *testing.T) {
	dir, err := os.MkdirTemp("", "tcgo")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	kept := os.DirFS(filepath.Join("..", "..", "testdata", "literals"))
	if err := os.CopyFS(filepath.Join(dir, "datasets", "literals", "1"), kept); err != nil {
		t.Fatal(err)
	}
	c, ctx := must(Connect(t.Context(), Options{Dir: dir}))(t), t.Context()
	defer func() {
		if err := stop(c); err != nil {
			t.Error(err)
		}
	}()
	d := must(c.Dataset(ctx, "literals"))(t)
	defer d.Close()
	for _, x := range []struct {
		column       string
		stored, want []float64
	}{
		{"n", []float64{1 << 60, -1 << 60, 7}, []float64{1 << 60, -1 << 60, 7}},
		{"u", []float64{1 << 63, 0}, []float64{1 << 63, 0}},
		{"x", []float64{math.NaN(), -1, 2.5, 1.5}, []float64{1, 0, 2.5, 4}},
	} {
		got := must(d.Inverse(x.column, x.stored, "a"))(t)
		if x.column == "x" {
			got[0] = 1 // the first row has no difference
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("column %q: %v, want %v", x.column, got, x.want)
		}
	}
	next := Part[float64]{Data: []float64{2}, Shape: []int{1, 1}}
	got := must(Inverse(d, []string{"x"}, next, InverseOptions{Initial: []float64{1e18}}))(t)
	if got.Data[0] != 102 { // above the upper bound, 100
		t.Error(got.Data)
	}
}
