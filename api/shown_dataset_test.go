package api

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/tensorcache/tensorcache/layout"
)

// shownDataset is a dataset with columns of all kinds, and its values by row as in responses.
type shownDataset struct {
	rows   []int64 // of each item
	items  []string
	table  layout.Table
	values map[string][]any // by column; lists for a wide column
	times  []int64
}

func (s *shownDataset) itemOffset(item int) (at int64) {
	for _, n := range s.rows[:item] {
		at += n
	}
	return at
}

// textWords are the values of the text column.
var textWords = []string{"tech", "<script>alert(1)</script>", "food"}

// publishShown publishes items with these numbers of rows, with missing, infinite and large values,
// and with jumps in time.
func (w *world) publishShown(name, layoutName string, rows ...int64) *shownDataset {
	w.Helper()
	s := &shownDataset{rows: rows, values: map[string][]any{}}
	offsets := []int64{0}
	for i, n := range rows {
		s.items = append(s.items, string(rune('A'+i))+`"<b>`)
		offsets = append(offsets, offsets[i]+n)
	}
	total := offsets[len(rows)]
	s.table = layout.Table{Layout: layoutName, Rows: total, Columns: []layout.Column{
		{Name: "id", Role: layout.RoleItemID, DType: layout.Text},
		{Name: "t", Role: layout.RoleTime, DType: layout.Timestamp, Unit: "s"},
		{Name: "f", Role: layout.RoleValue, DType: layout.Float32},
		{Name: "g,1", Role: layout.RoleValue, DType: layout.Float64},
		{Name: "i", Role: layout.RoleValue, DType: layout.Int64},
		{Name: "b", Role: layout.RoleValue, DType: layout.Bool},
		{Name: "w", Role: layout.RoleValue, DType: layout.Float32, Width: 3},
		{Name: "s", Role: layout.RoleValue, DType: layout.Text},
	}}
	r := rand.New(rand.NewPCG(7, uint64(total)))
	float := func() float64 {
		switch r.IntN(12) {
		case 0, 1:
			return math.NaN()
		case 2:
			return math.Inf(1 - 2*r.IntN(2))
		}
		return math.Round(r.NormFloat64() * 1000)
	}
	cell := func(v float64) any {
		switch {
		case math.IsNaN(v):
			return nil
		case math.IsInf(v, 0):
			return map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0]
		}
		return v
	}
	l, err := w.store.Begin(name)
	if err != nil {
		w.Fatal(err)
	}
	lw, err := layout.Create(l.Dir, s.table)
	if err != nil {
		w.Fatal(err)
	}
	add := func(column string, v any) { s.values[column] = append(s.values[column], v) }
	id, tm, f, g := layout.Values[int32](lw.Column(0, layout.Random)),
		layout.Values[int64](lw.Column(1, layout.Random)),
		layout.Values[float32](lw.Column(2, layout.Random)),
		layout.Values[float64](lw.Column(3, layout.Random))
	in, bl, wide, text := layout.Values[int64](lw.Column(4, layout.Random)),
		layout.Values[uint8](lw.Column(5, layout.Random)),
		layout.Values[float32](lw.Column(6, layout.Random)),
		layout.Values[int32](lw.Column(7, layout.Random))
	row := int64(0)
	for item, n := range rows {
		at := int64(1_500_000_000)
		for range n {
			if at += 60; r.IntN(40) == 0 {
				at += 3600
			}
			id.Row(row)[0], tm.Row(row)[0] = int32(item), at
			s.times = append(s.times, at)
			a, b := float(), float()
			f.Row(row)[0], g.Row(row)[0] = float32(a), b
			add("f", cell(a))
			add("g,1", cell(b))
			in.Row(row)[0] = int64(r.IntN(1<<30)) - 1<<29
			add("i", float64(in.Row(row)[0]))
			bl.Row(row)[0] = uint8(r.IntN(2))
			add("b", bl.Row(row)[0] == 1)
			three := []any{}
			for j := range 3 {
				v := float()
				wide.Row(row)[j] = float32(v)
				three = append(three, cell(v))
			}
			add("w", three)
			code := int32(r.IntN(len(textWords)+1)) - 1
			if text.Row(row)[0] = code; code < 0 {
				add("s", nil)
			} else {
				add("s", textWords[code])
			}
			add("id", s.items[item])
			row++
		}
	}
	_, err = lw.Finish(layout.Final{
		ItemID: []string{
			"id",
		}, Time: "t", Vocab: map[string][]string{"id": s.items, "s": textWords},
		Items: layout.Items{Offsets: offsets,
			Values: []layout.ItemValues{{Name: "id", Texts: s.items}}},
	})
	if err == nil {
		_, err = l.Publish()
	}
	if err = errors.Join(err, l.Abort()); err != nil {
		w.Fatal(err)
	}
	return s
}
