package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/bitset"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// publishMasked publishes dataset "masked" of four rows, whose columns differ in what they store about
// missing and filled values.
func publishMasked(t *testing.T, s *store.Store) {
	list := func(m layout.MissingRows) layout.ListFile { return layout.ListFile{Runs: m.AppendBinary(nil)} }
	one := layout.MissingRows{{Row: 1, Rows: 2, Cells: 1}}
	table := layout.Table{Rows: 4}
	for _, c := range []layout.Column{
		{Name: "pair", DType: layout.Float64, Width: 2}, {Name: "word", DType: layout.Text},
		{Name: "count", DType: layout.Int32}, {Name: "none", DType: layout.Float32},
		{Name: "of 0.1", DType: layout.Float32, Width: 2},
		{Name: "part", DType: layout.Float32, PartOfFilled: &layout.PartOf{Dataset: "whole", Column: "p"}},
		{Name: "kept", DType: layout.Float32, Width: 2}, {Name: "gaps", DType: layout.Float32},
	} {
		c.Role = layout.RoleValue
		table.Columns = append(table.Columns, c)
	}
	cells := layout.ListFile{Runs: layout.AppendFeature(layout.AppendFeature(nil, nil), one.AppendBinary(nil))}
	final := layout.Final{
		Items: layout.Items{Offsets: []int64{0, 4}}, Vocab: map[string][]string{"word": {"x"}},
		Prepared: map[string]*layout.Prepared{
			"pair":   {Fill: "value", Before: &layout.BeforeFill{Missing: 2, ListFile: list(one), Cells: &cells}},
			"count":  {Fill: "value", Before: &layout.BeforeFill{Missing: 2, ListFile: list(one)}},
			"of 0.1": {Fill: "value", Before: &layout.BeforeFill{Missing: 2, ListFile: list(one)}},
			"kept":   {Fill: "value", Before: &layout.BeforeFill{Missing: 2, ListFile: list(one)}},
		},
		StepsOf: map[string]*layout.StepsOf{
			"kept": {Dataset: "before", Column: "kept"},
		},
	}
	storetest.Publish(t, s, "masked", table, final, func(w *layout.Writer) {
		pair, word := layout.Values[float64](w.Column(0, layout.Random)), layout.Values[int32](w.Column(1, layout.Random))
		pair.Row(3)[0] = math.NaN()
		word.Row(2)[0] = -1
		layout.Values[float32](w.Column(7, layout.Random)).Row(1)[0] = float32(math.NaN())
	})
}

func TestBitsOfMasksAreThoseOfMissingAndFilledValues(t *testing.T) {
	s := must(store.Open(t.TempDir(), slog.New(slog.DiscardHandler)))(t)
	defer s.Close()
	publishMasked(t, s)
	h := must(s.Acquire("masked", 0))(t)
	defer h.Release()
	const spec = `{"context_length": 2, "max_missing": null,
		"columns": ["pair", "word", "count", "none", "of 0.1", "part", "kept", "gaps"]}`
	w := must(New(h, json.RawMessage(spec), nil))(t)
	for name, c := range map[string]struct {
		part, columns string
		want          string // a row of bits for each row of the dataset
	}{
		"observed":          {"observed", "pair word count none", "0000 0 | 0101 0 | 0111 0 | 1000 0"},
		"observed, wide":    {"observed", "pair", "00 | 01 | 01 | 10"},
		"observed, gaps":    {"observed", "gaps", "0 | 1 | 0 | 0"},
		"missing":           {"context_missing", "pair word count none", "0000 0 | 0000 0 | 0000 0 | 1000 0"},
		"nothing":           {"context_missing", "word of_0.1 part", "0000 | 0000 | 0000 | 0000"},
		"nothing, observed": {"observed", "none", "0 | 0 | 0 | 0"},
	} {
		var columns []string
		for _, column := range strings.Fields(c.columns) {
			columns = append(columns, strings.ReplaceAll(column, "_", " "))
		}
		selected := must(w.Select([]wire.PartRequest{{Name: "m", Part: c.part, Columns: columns}}, false))(t)
		part := selected.Parts()[0]
		bits := must(selected.MaskBits(part))(t)
		again := must(w.MaskBits(part))(t)
		got := ""
		for row := range int64(4) {
			for feature, b := range bits {
				if b == nil {
					got += "0"
				} else {
					got += fmt.Sprint(b.At(row))
				}
				if unsafe.SliceData(b) != unsafe.SliceData(again[feature]) {
					t.Errorf("%s: the bits are made again", name)
				}
			}
		}
		if want := strings.NewReplacer(" ", "", "|", "").Replace(c.want); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		hasBits := slices.ContainsFunc(bits, func(b bitset.Bits) bool { return b != nil })
		if hasBits != strings.Contains(c.want, "1") {
			t.Errorf("%s: there are bits: %t", name, hasBits)
		}
	}
}

func TestMasksOfAColumnShareTheirBits(t *testing.T) {
	s := must(store.Open(t.TempDir(), slog.New(slog.DiscardHandler)))(t)
	defer s.Close()
	publishMasked(t, s)
	h := must(s.Acquire("masked", 0))(t)
	defer h.Release()
	for name, isShared := range map[string]bool{"gaps": true, "pair": false} {
		i := slices.IndexFunc(h.Data.Manifest.Columns,
			func(c layout.ManifestColumn) bool { return c.Name == name })
		c := &h.Data.Manifest.Columns[i]
		observed, missing := must(columnBits(h, c, KindObserved))(t), must(columnBits(h, c, KindMissing))(t)
		last := len(missing) - 1
		if got := unsafe.SliceData(observed[last]) == unsafe.SliceData(missing[last]); got != isShared {
			t.Errorf("%s: the bits are shared: %t", name, got)
		}
	}
}

func TestMasksOfValuesThatMayBeFilledAreRefused(t *testing.T) {
	s := must(store.Open(t.TempDir(), slog.New(slog.DiscardHandler)))(t)
	defer s.Close()
	publishMasked(t, s)
	h := must(s.Acquire("masked", 0))(t)
	defer h.Release()
	for column, want := range map[string][2]string{
		"of 0.1": {`column "of 0.1": 1 of 2 values of row 1 were filled: version 0.1 did not store which`,
			"remove the dataset and load it again from its sources"},
		"part": {`column "part" is a part or a cast of column "p" of dataset "whole"`, "put the whole column"},
		"kept": {`column "kept": 1 of 2 values`, `before, dataset "before", of which the column is`},
	} {
		spec := must(json.Marshal(map[string]any{"context_length": 2, "columns": []string{column}}))(t)
		w := must(New(h, spec, nil))(t)
		selected := must(w.Select([]wire.PartRequest{{Name: "m", Part: "observed"}}, false))(t)
		_, err := selected.MaskBits(selected.Parts()[0])
		var p *wire.Problem
		if !errors.As(err, &p) || p.Field != "columns" || !strings.Contains(p.Detail, want[0]) ||
			!strings.Contains(p.Hint, want[1]) {
			t.Errorf("%s: got %#v", column, err)
		}
	}
}
