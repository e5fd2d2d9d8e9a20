package window_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

// groupsOf returns the windows of an index by time, from the definition: all that are of one time,
// in ascending order.
func groupsOf(x *window.Index, tab window.Table) (groups [][]uint32) {
	s := x.Spec()
	row := (s.ContextLength + s.Gap) * or1(s.Dilation) // the first prediction row
	if s.PredictionLength == 0 || x.IsLatest() {       // the last context row
		row = (s.ContextLength - 1) * or1(s.Dilation)
	}
	byTime := map[int64][]uint32{}
	for n := range x.Len() {
		p := x.Place(n)
		at := tab.Times[tab.Offsets[p.Item]+p.Start+row]
		byTime[at] = append(byTime[at], uint32(n))
	}
	var times []int64
	for at := range byTime {
		times = append(times, at)
	}
	slices.Sort(times)
	for _, at := range times {
		groups = append(groups, byTime[at])
	}
	return groups
}

// groupsIn returns the groups of a table.
func groupsIn(t interface{ Fatal(...any) }, x *window.Index) (groups [][]uint32) {
	table, err := x.GroupTable()
	if err != nil {
		t.Fatal(err)
	}
	g, err := window.ParseGroups(table, x.Len())
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.GroupCount() {
		groups = append(groups, g.Group(i))
	}
	return groups
}

func TestGroupsAreTheWindowsOfOneTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		if tab.Times == nil {
			return
		}
		spec := drawSpec(t, tab)
		var cuts []window.Cut
		if rapid.Bool().Draw(t, "cut") {
			cuts = drawCuts(t, tab)
		}
		x, err := window.Apply(spec, tab, cuts)
		if err != nil {
			return // as that of known columns of latest
		}
		if got, want := groupsIn(t, x), groupsOf(x, tab); !reflect.DeepEqual(got, want) {
			t.Fatalf("groups %v, want %v", got, want)
		}
	})
}

// TestGroupsOfManyItems has more distinct times than are collected before they are merged, in items
// that share all times, some and none.
func TestGroupsOfManyItems(t *testing.T) {
	for name, begins := range map[string]func(item int64) int64{
		"the same times": func(int64) int64 { return 0 },
		"overlapping":    func(item int64) int64 { return item * 20_000 },
		"apart":          func(item int64) int64 { return -item * 100_000 },
		"interleaved":    func(item int64) int64 { return item % 2 },
	} {
		t.Run(name, func(t *testing.T) {
			const items, rows = 5, 50_000
			tab := window.Table{Offsets: []int64{0}}
			for item := range int64(items) {
				for row := range int64(rows) {
					tab.Times = append(tab.Times, begins(item)+2*row)
				}
				tab.Offsets = append(tab.Offsets, (item+1)*rows)
			}
			x, err := window.New(window.Spec{ContextLength: 3, PredictionLength: 1, Stride: 2}, tab)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(groupsIn(t, x), groupsOf(x, tab)) {
				t.Error("groups differ")
			}
		})
	}
}

func TestTablesOfGroupsThatCannotBeAreRefused(t *testing.T) {
	for name, table := range map[string][]uint32{
		"empty":            nil,
		"cut off":          {3, 2, 0, 2, 1, 0},
		"longer":           {3, 2, 0, 2, 1, 0, 2, 0},
		"of other windows": {2, 2, 0, 1, 0, 1},
		"without groups":   {3, 0, 0, 2, 1},
		"not from 0":       {3, 2, 0, 2, 1, 1, 2},
		"an empty group":   {3, 2, 0, 2, 1, 0, 0},
		"descending":       {3, 3, 0, 2, 1, 0, 2, 1},
		"past the end":     {3, 2, 0, 2, 1, 0, 3},
		"far past the end": {3, math.MaxUint32, 0, 2, 1, 0, 3},
	} {
		if _, err := window.ParseGroups(table, 3); !errors.Is(err, window.ErrTable) {
			t.Errorf("%s: %v, want ErrTable", name, err)
		}
	}
	if g, err := window.ParseGroups([]uint32{0, 0}, 0); err != nil || g.GroupCount() != 0 {
		t.Errorf("no windows: %d groups, %v", g.GroupCount(), err)
	}
}

func TestWindowsWithoutTimesHaveNoGroups(t *testing.T) {
	x, err := window.New(window.Spec{ContextLength: 1}, window.Table{Offsets: []int64{0, 5}})
	if err != nil {
		t.Fatal(err)
	}
	var refused *window.SpecError
	if _, err := x.GroupTable(); !errors.As(err, &refused) || refused.Field != "order" {
		t.Errorf("%v, want a refusal of order", err)
	}
}

func BenchmarkGroupTable(b *testing.B) {
	const items, rows = 1000, 10_000
	tab := window.Table{Offsets: []int64{0}}
	for item := range int64(items) {
		for row := range int64(rows) {
			tab.Times = append(tab.Times, row+item%7*rows/10)
		}
		tab.Offsets = append(tab.Offsets, (item+1)*rows)
	}
	x, err := window.New(window.Spec{ContextLength: 60, PredictionLength: 1}, tab)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.GroupTable(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(x.Len()), "ns/window")
}
