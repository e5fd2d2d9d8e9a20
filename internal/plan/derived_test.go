package plan

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// publishIrregular publishes dataset "d" of two items with jumps in time, missing values in two
// dtypes, and a static column.
func publishIrregular(t *testing.T, s *store.Store) {
	const rows = 3000
	table := layout.Table{Rows: rows, Columns: []layout.Column{
		{Name: "t", Role: layout.RoleTime, DType: layout.Timestamp, Unit: "s"},
		{Name: "a", Role: layout.RoleValue, DType: layout.Float32},
		{Name: "wide", Role: layout.RoleValue, DType: layout.Float64, Width: 3},
		{Name: "level", Role: layout.RoleValue, DType: layout.Int32},
	}}
	storetest.Publish(t, s, "d", table,
		layout.Final{Time: "t", Items: layout.Items{Offsets: []int64{0, 1400, rows}}},
		func(w *layout.Writer) {
			times, a := layout.Values[int64](w.Column(0, layout.Random)),
				layout.Values[float32](w.Column(1, layout.Random))
			wide, level := layout.Values[float64](w.Column(2, layout.Random)),
				layout.Values[int32](w.Column(3, layout.Random))
			at := int64(0)
			for row := range int64(rows) {
				at += 60
				if row == 700 || row == 1900 {
					at += 3600
				}
				times.Row(row)[0], a.Row(row)[0] = at, float32(row)
				if row%500 < 20 {
					a.Row(row)[0] = float32(math.NaN())
				}
				if row%611 == 0 {
					wide.Row(row)[1], wide.Row(row)[2] = math.NaN(), math.NaN()
				}
				if level.Row(row)[0] = 1; row >= 1400 {
					level.Row(row)[0] = 2
				}
			}
		})
}

// planAgain opens the store again and plans.
func planAgain(t *testing.T, dir string) ([]window.Run, map[window.Reason]int64) {
	t.Helper()
	s := must(store.Open(dir, slog.New(slog.DiscardHandler)))(t)
	defer s.Close()
	h := must(s.Acquire("d", 0))(t)
	defer h.Release()
	spec := json.RawMessage(
		`{"context_length": 16, "prediction_length": 4, "max_step": "1min", "max_missing": 0.05, "context_columns": ["a", "wide"], "target_columns": ["a"], "static_columns": ["level"]}`)
	w := must(New(h, spec, nil))(t)
	return w.Index.Runs(), w.Index.Rejected()
}

func TestPlansDoNotDependOnTheStateOfDerivedFiles(t *testing.T) {
	dir := t.TempDir()
	s := must(store.Open(dir, slog.New(slog.DiscardHandler)))(t)
	publishIrregular(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	runs, rejected := planAgain(t, dir)
	if rejected[window.ReasonMaxStep] == 0 || rejected[window.ReasonMaxMissing] == 0 {
		t.Fatalf("nothing is rejected: %v", rejected)
	}
	same := func(what string) {
		t.Helper()
		if r, why := planAgain(t, dir); !reflect.DeepEqual(r, runs) ||
			!reflect.DeepEqual(why, rejected) {
			t.Errorf("%s: got %v and %v, want %v and %v", what, r, why, runs, rejected)
		}
	}
	same("as written")
	files := must(filepath.Glob(filepath.Join(dir, "datasets", "d", "1", "derived", "*")))(t)
	var names []string
	for _, path := range files {
		names = append(names, filepath.Base(path))
	}
	if want := []string{"missing-a", "missing-wide", "static-level", "steps"}; !reflect.DeepEqual(
		names, want) {
		t.Fatalf("derived files %v, want %v", names, want)
	}
	for _, path := range files {
		whole := must(os.ReadFile(path))(t)
		for what, b := range map[string][]byte{
			"torn":   whole[:len(whole)-1],
			"longer": append(append([]byte(nil), whole...), 0), "empty": {},
			"flipped": append(append([]byte(nil), whole[:len(whole)-1]...), whole[len(whole)-1]^4),
		} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			same(filepath.Base(path) + " " + what)
			if got := must(os.ReadFile(path))(t); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s, %s, is not made again", path, what)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	same("removed")
}

func TestMissingRowsMustMatchTheManifest(t *testing.T) {
	c := &layout.ManifestColumn{Name: "a", DType: layout.Float32, Shape: []int64{100}, Missing: 3}
	m := layout.MissingRows{{Row: 4, Rows: 3, Cells: 1}}
	if got, err := readMissing(m.AppendBinary(nil), c); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("got %v, %v", got, err)
	}
	c.Missing = 4
	if _, err := readMissing(m.AppendBinary(nil), c); err == nil {
		t.Error("three missing cells are read as four")
	}
}

// must returns a function that returns v, or fails the test if err is not nil.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
