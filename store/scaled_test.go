package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// writeCopy writes a scaled copy of a dataset.
func writeCopy(t *testing.T, s *Store, name, of string) *Staging {
	t.Helper()
	l, err := s.Begin(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := layout.Create(l.Dir, layout.Table{Rows: 3,
		Columns: []layout.Column{{Name: "a", Role: layout.RoleValue, DType: layout.Float32}}})
	if err != nil {
		t.Fatal(err)
	}
	fit := layout.MissingRows{{Row: 0, Rows: 2, Cells: 1}}
	_, err = w.Finish(layout.Final{Items: layout.Items{Offsets: []int64{0, 3}}, ScaledOf: &layout.ScaledOf{
		Dataset: of, Columns: []string{"a"}, Part: []byte(`{}`),
		FitRows: layout.ListFile{Runs: fit.AppendBinary(nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestScaledCopiesAreRemovedWithTheirDataset(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	publish(t, s, "x", 1)
	publish(t, s, "y", 1)
	for _, of := range []struct{ name, of string }{{"x.a", "x"}, {"x.b", "x"}, {"y.a", "y"}} {
		if _, err := writeCopy(t, s, of.name, of.of).Publish(); err != nil {
			t.Fatal(err)
		}
	}
	h := acquire(t, s, "x.b", 0)
	rows, err := h.Data.FitRows()
	if err != nil || !slices.Equal(rows, layout.MissingRows{{Row: 0, Rows: 2, Cells: 1}}) {
		t.Errorf("fit rows %v, %v", rows, err)
	}
	other := writeCopy(t, s, "y", "x")
	if _, err := other.Publish(); !errors.Is(err, ErrSuperseded) {
		t.Errorf("publish a copy over another dataset: %v", err)
	}
	if err := other.Abort(); err != nil {
		t.Error(err)
	}
	late := writeCopy(t, s, "x.c", "x")
	removed, err := s.Remove("x")
	if err != nil || !slices.Equal(removed.Copies, []string{"x.a", "x.b"}) {
		t.Fatalf("%+v, %v", removed, err)
	}
	// Not even a copy that was being made stays.
	if _, err := late.Publish(); !errors.Is(err, ErrNotFound) {
		t.Errorf("publish a copy of a removed dataset: %v", err)
	}
	if err := late.Abort(); err != nil {
		t.Error(err)
	}
	h.Release()
	var left []string
	for _, i := range s.Datasets() {
		left = append(left, i.Dataset)
	}
	if !slices.Equal(left, []string{"y", "y.a"}) {
		t.Errorf("left: %v", left)
	}
	if removed, err := s.Remove("y.a"); err != nil || len(removed.Copies) > 0 {
		t.Errorf("%+v, %v", removed, err)
	}
}
