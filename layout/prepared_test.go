package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writeFilled writes a generation of one column whose row 1 was missing before the fill. It returns
// the directory.
func writeFilled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir,
		Table{Rows: 3, Columns: []Column{{Name: "a/b", Role: RoleValue, DType: Float32}}})
	if err != nil {
		t.Fatal(err)
	}
	var m MissingRows
	m.Add(1, 1)
	_, err = w.Finish(Final{
		Items: Items{Offsets: []int64{0, 3}},
		Prepared: map[string]*Prepared{"a/b": {Fill: "linear", First: Floats{1, math.NaN()},
			Before: &BeforeFill{Missing: 1, ListFile: ListFile{Runs: m.AppendBinary(nil)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRowsMissingBeforeAFillAreStored(t *testing.T) {
	d := open(t, writeFilled(t))
	c := &d.Manifest.Columns[0]
	if runs, err := d.BeforeFill(c); err != nil || !slices.Equal(runs, MissingRows{{1, 1, 1}}) {
		t.Errorf("%v, %v", runs, err)
	}
	if err := d.Verify(); err != nil {
		t.Error(err)
	}
	if names, files := d.Files(); !slices.Contains(names, c.Prepared.Before.File) ||
		len(files) != len(names) {
		t.Errorf("files %v", names)
	}
	if f := c.Prepared.First; f[0] != 1 || f[1] == f[1] {
		t.Errorf("first %v", f)
	}
}

func TestDamageToMissingRowsIsFound(t *testing.T) {
	dir := writeFilled(t)
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

// filledPair writes a generation of a column [3, 2] of which the fill made the given cells. It opens
// the generation.
func filledPair(t *testing.T, rows MissingRows, cells *ListFile) *Data {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir,
		Table{Rows: 3, Columns: []Column{{Name: "a", Role: RoleValue, DType: Float32, Width: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Finish(Final{
		Items: Items{Offsets: []int64{0, 3}},
		Prepared: map[string]*Prepared{"a": {Fill: "value", Before: &BeforeFill{
			ListFile: ListFile{Runs: rows.AppendBinary(nil)}, Cells: cells}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func TestFilledCellsAreListedByFeature(t *testing.T) {
	list := func(features ...MissingRows) *ListFile {
		var f ListFile
		for _, m := range features {
			f.Runs = AppendFeature(f.Runs, m.AppendBinary(nil))
		}
		return &f
	}
	one := MissingRun{1, 1, 1}
	for name, c := range map[string]struct {
		rows  MissingRows
		cells *ListFile
		want  []MissingRows
		err   error
	}{
		"whole rows":              {MissingRows{{1, 1, 2}}, nil, []MissingRows{{one}, {one}}, nil},
		"a cell":                  {MissingRows{one}, list(nil, MissingRows{one}), []MissingRows{nil, {one}}, nil},
		"of an earlier version":   {MissingRows{one}, nil, nil, ErrNotStored},
		"only one feature":        {MissingRows{one}, list(MissingRows{one}), nil, ErrTorn},
		"three features":          {MissingRows{one}, list(nil, MissingRows{one}, nil), nil, ErrTorn},
		"fewer cells":             {MissingRows{one, {2, 1, 1}}, list(nil, MissingRows{one}), nil, ErrTorn},
		"more cells":              {MissingRows{one}, list(MissingRows{one}, MissingRows{one}), nil, ErrTorn},
		"a row after the last":    {MissingRows{one}, list(nil, MissingRows{{3, 1, 1}}), nil, ErrTorn},
		"several cells a value":   {MissingRows{one}, list(nil, MissingRows{{1, 1, 2}}), nil, ErrTorn},
		"a length beyond the end": {MissingRows{one}, &ListFile{Runs: []byte{0, 9, 1, 0, 0}}, nil, ErrTorn},
	} {
		t.Run(name, func(t *testing.T) {
			d := filledPair(t, c.rows, c.cells)
			column := &d.Manifest.Columns[0]
			got, err := d.FilledCells(column)
			if !errors.Is(err, c.err) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, %v, want %v, %v", got, err, c.want, c.err)
			}
			copied, err := d.CopyBeforeFill(column)
			if err != nil || !bytes.Equal(copied.Runs, c.rows.AppendBinary(nil)) ||
				(copied.Cells != nil) != (c.cells != nil) {
				t.Errorf("copied %+v, %v", copied, err)
			}
			if err := d.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDamageToFilledCellsIsFound(t *testing.T) {
	d := filledPair(t, MissingRows{{1, 1, 1}}, &ListFile{Runs: []byte{0, 3, 1, 0, 0}})
	path := filepath.Join(d.Dir, FilledCellsFile("a"))
	if err := os.WriteFile(path, []byte{0, 3, 2, 0, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, d.Dir).Verify(); !errors.Is(err, ErrChecksum) {
		t.Errorf("%v, want ErrChecksum", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(d.Dir); !errors.Is(err, ErrTorn) {
		t.Errorf("%v, want ErrTorn", err)
	}
}

func TestAGenerationOfTooManyFilesIsRefused(t *testing.T) {
	table, vocab := Table{Rows: 1}, map[string][]string{}
	for i := range MaxFiles - 1 { // data.arrow and items.arrow are files too
		name := fmt.Sprint(i)
		table.Columns = append(table.Columns, Column{Name: name, Role: RoleValue, DType: Text})
		vocab[name] = []string{"a"}
	}
	w, err := Create(t.TempDir(), table)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Finish(Final{Items: Items{Offsets: []int64{0, 1}}, Vocab: vocab})
	if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "2025 files, at most 2024") {
		t.Errorf("got %v", err)
	}
}

func TestNonFiniteFloatsAreNullInJSON(t *testing.T) {
	b, err := json.Marshal(Floats{1.5, math.NaN(), math.Inf(1)})
	if err != nil || string(b) != "[1.5,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}

func TestMissingRowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOf(rapid.SampledFrom([]int64{0, 0, 1, 1, 1, 2, 300})).Draw(t, "cells")
		var m MissingRows
		rows, sum := int64(0), int64(0)
		for row, n := range cells {
			m.Add(int64(row), n)
			if sum += n; n > 0 {
				rows++
			}
		}
		b := m.AppendBinary(nil)
		got, err := ParseMissingRows(b, int64(len(cells)), 300)
		if err != nil || !slices.Equal(got, m) {
			t.Fatalf("got %v (%v), want %v", got, err, m)
		}
		back := make([]int64, len(cells))
		for _, r := range got {
			for row := r.Row; row < r.Row+r.Rows; row++ {
				back[row] = r.Cells
			}
		}
		if !slices.Equal(back, cells) {
			t.Fatalf("got %v, want %v", back, cells)
		}
		if r, n := m.Count(); r != rows || n != sum {
			t.Fatalf("%d rows with %d cells, want %d with %d", r, n, rows, sum)
		}
		if len(m) > 0 { // fewer rows, fewer cells and truncated bytes are errors
			last := m[len(m)-1]
			most := slices.MaxFunc(m, func(a, b MissingRun) int { return int(a.Cells - b.Cells) }).
				Cells
			for _, bad := range []struct {
				b           []byte
				rows, cells int64
			}{{b, last.Row + last.Rows - 1, 300}, {b, int64(len(cells)), most - 1},
				{b[:len(b)-1], int64(len(cells)), 300}} {
				if got, err := ParseMissingRows(bad.b, bad.rows, bad.cells); !errors.Is(
					err, ErrTorn) {
					t.Fatalf("got %v, %v, want ErrTorn", got, err)
				}
			}
		}
	})
}

func FuzzMissingRows(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 200, 1, 2}, int64(1000), int64(4))
	f.Fuzz(func(t *testing.T, b []byte, rows, cells int64) {
		m, err := ParseMissingRows(b, rows, cells)
		if err != nil || rows < 0 || cells < 1 {
			return
		}
		last := int64(0)
		for _, r := range m {
			if r.Row < last || r.Rows < 1 || r.Row+r.Rows > rows || r.Cells < 1 || r.Cells > cells {
				t.Fatalf("%v of %d rows of %d cells", m, rows, cells)
			}
			last = r.Row + r.Rows
		}
	})
}
