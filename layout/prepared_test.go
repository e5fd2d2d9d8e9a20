package layout

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// filled writes a column of which row 1 was missing before it was filled.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, Table{Rows: 3, Columns: []Column{{Name: "a/b", Role: RoleValue, DType: Float32}}})
	if err != nil {
		t.Fatal(err)
	}
	var m MissingRows
	m.Add(1, 1)
	_, err = w.Finish(Final{
		Items:    Items{Offsets: []int64{0, 3}},
		Prepared: map[string]*Prepared{"a/b": {Fill: "linear", First: Floats{1, math.NaN()}, Before: &BeforeFill{Missing: 1, Runs: m.AppendBinary(nil)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatWasMissingBeforeAFillIsKept(t *testing.T) {
	d := open(t, filled(t))
	c := &d.Manifest.Columns[0]
	if runs, err := d.BeforeFill(c); err != nil || !slices.Equal(runs, MissingRows{{1, 1, 1}}) {
		t.Errorf("%v, %v", runs, err)
	}
	if err := d.Verify(); err != nil {
		t.Error(err)
	}
	if names, files := d.Files(); !slices.Contains(names, c.Prepared.Before.File) || len(files) != len(names) {
		t.Errorf("files %v", names)
	}
	if f := c.Prepared.First; f[0] != 1 || f[1] == f[1] {
		t.Errorf("first %v", f)
	}
}

func TestDamageToWhatWasMissingIsFound(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, BeforeFillFile("a/b"))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Verify(); !errors.Is(err, ErrChecksum) {
		t.Errorf("%v, want ErrChecksum", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrTorn) {
		t.Errorf("%v, want ErrTorn", err)
	}
}

func TestNumbersThatAreNoneAreNull(t *testing.T) {
	b, err := json.Marshal(Floats{1.5, math.NaN(), math.Inf(1)})
	if err != nil || string(b) != "[1.5,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}
