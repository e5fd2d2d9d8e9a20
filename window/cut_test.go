package window_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestCutsAreReadAndWritten(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`[]`, ``},
		{`[{"where":{"rows":[-48,null]}}]`, ``},
		{`[{"where":{"time":["2016-07-01",null],"items":[2,0]},"context_before_split":false}]`,
			`[{"where":{"time":["2016-07-01T00:00:00",null],"items":[2,0]},"context_before_split":false}]`},
		{`[{"where":{"items":[]},"context_before_split":true}]`, `[{"where":{"items":[]}}]`},
		{`[{"split":{"lengths":[8640,2880,null],"purge":3,"context_before_split":false,"names":["a","b","c"]},"part":2}]`, `[{"split":{"lengths":[8640,2880,null],"purge":3,"context_before_split":false},"part":2}]`},
		{`[{"split":{"fractions":[0.7,null,0.2]}}]`,
			`[{"split":{"fractions":[0.7,null,0.2]},"part":0}]`},
		{`[{"split":{"at_times":[5,7]},"part":1},{"latest":true}]`, ``},
		{`[{"split":{"items":[[0,1],[]]},"part":1},{"split":{"items":[0.5,0.5]},"part":0}]`, ``},
	} {
		cuts, err := parseCuts([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		out, err := json.Marshal(cuts)
		if want := cmpOr(c.out, c.in); err != nil || string(out) != want {
			t.Errorf("%s is written as %s, want %s: %v", c.in, out, want, err)
		}
	}
}

func TestInvalidCutsAreRefusedWithTheField(t *testing.T) {
	for _, c := range []struct{ in, field string }{
		{`[{}]`, "cut"}, {`[{"where":{}}]`, "where"}, {`[{"where":null}]`, "cut"},
		{`[{"where":{"rows":[0,5]},"latest":true}]`, "cut"},
		{`[{"where":{"rows":[0,5]},"part":1}]`, "cut"}, {`[{"latest":false}]`, "cut"},
		{`[{"latest":true,"context_before_split":false}]`, "cut"},
		{`[{"where":{"rows":[5,0]}}]`, "rows"}, {`[{"where":{"item":[0]}}]`, "where"},
		{`[{"where":{"items":["a"]}}]`, "items[0]"},
		{`[{"split":{}}]`, "split"}, {`[{"split":{"lengths":[]}}]`, "lengths"},
		{`[{"split":{"lengths":[],"fractions":[0.5,0.5]}}]`, "split"},
		{`[{"split":{"items":[]}}]`, "items"}, {`[{"split":{"at_times":[]}}]`, "at_times"},
		{`[{"split":{"lengths":[5],"fractions":[1]}}]`, "split"},
		{`[{"split":{"lengths":[5,5]},"part":2}]`, "part"},
		{`[{"split":{"lengths":[5,5]},"part":-1}]`, "part"},
		{`[{"split":{"lengths":[5,-5]}}]`, "lengths[1]"},
		{`[{"split":{"lengths":[null,null]}}]`, "lengths"},
		{`[{"split":{"fractions":[0.5,1.5]}}]`, "fractions[1]"},
		{`[{"split":{"fractions":[0.8,0.3]}}]`, "fractions"},
		{`[{"split":{"fractions":[null,null]}}]`, "fractions"},
		{`[{"split":{"lengths":[5]}}]`, "lengths"},
		{`[{"split":{"fractions":[0.5]}}]`, "fractions"}, {`[{"split":{"items":[[0]]}}]`, "items"},
		{`[{"split":{"lengths":[5,0]}}]`, "lengths[1]"},
		{`[{"split":{"fractions":[0.0,1]}}]`, "fractions[0]"},
		{`[{"split":{"fractions":[0.5,null,0.5]}}]`, "fractions"},
		{`[{"split":{"items":[[0,0],[1]]}}]`, "items[0]"},
		{`[{"split":{"items":[null,1]}}]`, "items"},
		{`[{"split":{"at_times":[5,5]}}]`, "at_times[1]"},
		{`[{"split":{"at_times":["soon"]}}]`, "at_times[0]"},
		{`[{"split":{"items":[[0],[0]]}}]`, "items[1]"},
		{`[{"split":{"items":[[0],0.5]}}]`, "items"},
		{`[{"split":{"items":[0.5,0.5],"purge":1}}]`, "purge"},
		{`[{"split":{"lengths":[5],"purge":-1}}]`, "purge"},
		{`[{"split":{"lengths":[5,5],"names":["a"]}}]`, "names"},
		{`[{"split":{"lengths":[5,5],"names":["a","a"]}}]`, "names"},
		{`[{"split":{"lengths":[5` + strings.Repeat(",5", 1000) + `]}}]`, "lengths"},
		{`[{"split":{"items":[[0]` + strings.Repeat(",[]", 1000) + `]}}]`, "items"},
	} {
		_, err := parseCuts([]byte(c.in))
		var e *window.SpecError
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%s: %v, want it to name %s", c.in, err, c.field)
		}
	}
}

func TestSplitsMadeInGoAreValidated(t *testing.T) {
	nan := ptr(math.NaN())
	x := mustNew(t, window.Spec{ContextLength: 2}, items(10))
	for _, s := range []window.Split{
		{Fractions: []*float64{nan}}, {Fractions: []*float64{nan, nil}},
		{Fractions: []*float64{ptr(1.0), nil}},
		{Items: &window.ItemParts{Fractions: []*float64{nan}}}, {Items: &window.ItemParts{}},
		{AtTimes: []window.TimeValue{}},
	} {
		if _, err := x.Split(s); !errors.Is(err, window.ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestCutsThatDoNotFitTheTableAreRefused(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 2, PredictionLength: 1, KnownColumns: []string{"k"}},
		items(10, 10))
	for _, c := range []struct{ in, says string }{
		{`[{"where":{"items":[2]}}]`, "from 0 to 1"},
		{`[{"where":{"items":[-1]}}]`, "from 0 to 1"},
		{`[{"split":{"items":[[0],[7]]}}]`, "from 0 to 1"},
		{`[{"split":{"items":[0.5,0.5]}}]`, "hashes none"},
		{`[{"split":{"at_times":[5]}}]`, "no time column"},
		{`[{"where":{"time":[5,null]}}]`, "no time column"},
		{`[{"latest":true},{"where":{"rows":[0,5]}}]`, "last cut"},
		{`[{"latest":true}]`, "rows of item 0 up to 11, not 10"}, // no known rows after it
	} {
		cuts, err := parseCuts([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := window.Apply(x.Spec(), items(10, 10), cuts); !errors.Is(err, window.ErrSpec) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.in, err, c.says)
		}
	}
}

func TestHashDiffersBetweenSpecsAndParts(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 2, PredictionLength: 1}, items(10, 10))
	same := mustNew(t, window.Spec{ContextLength: 2, PredictionLength: 1, Stride: 1,
		Anchor: "start", MinContext: ptr(int64(2))}, items(50))
	if x.Hash() != same.Hash() {
		t.Error("defaults spelled out change the hash")
	}
	seen := map[string]bool{x.Hash(): true}
	parts := mustSplit(t, x, window.Split{Lengths: lengths(5, 5)})
	parts = append(parts,
		mustSplit(t, x, window.Split{Lengths: lengths(5, 5), ContextBeforeSplit: ptr(false)})...)
	parts = append(parts, mustNew(t, window.Spec{ContextLength: 2, PredictionLength: 2},
		items(10, 10)))
	for i, p := range parts {
		if seen[p.Hash()] {
			t.Errorf("index %d has the hash of another", i)
		}
		seen[p.Hash()] = true
	}
	named := mustSplit(t, x, window.Split{Lengths: lengths(5, 5), Names: []string{"train", "test"}})
	if named[0].Hash() != parts[0].Hash() {
		t.Error("names change the hash")
	}
}

// The items have rows with targets, and then rows without.
func TestLatestEndsAtTheLastTarget(t *testing.T) {
	tab := items(14, 12)
	tab.Columns = []window.Column{{Context: true, Target: true, Cells: 1}}
	for row := int64(10); row < 14; row++ {
		tab.Columns[0].Missing = append(tab.Columns[0].Missing,
			window.MissingRow{Row: row, Cells: 1})
	}
	for row := int64(23); row < 26; row++ {
		tab.Columns[0].Missing = append(tab.Columns[0].Missing,
			window.MissingRow{Row: row, Cells: 1})
	}
	spec := window.Spec{ContextLength: 4, PredictionLength: 3, Stride: 5,
		KnownColumns: []string{"price"}}
	x := mustNew(t, spec, tab)
	latest, err := x.Latest()
	if err != nil {
		t.Fatal(err)
	}
	if latest.Len() != 2 || latest.Place(0) != (window.Place{Item: 0, Start: 6}) ||
		latest.Place(1) != (window.Place{Item: 1, Start: 5}) {
		t.Errorf("latest windows %v", latest.Runs())
	}
	spec.PredictionLength = 5
	if _, err := mustNew(t, spec, tab).Latest(); !errors.Is(err, window.ErrSpec) {
		t.Errorf("four known rows serve five: %v", err)
	}
	spec.KnownColumns = nil
	if latest, err := mustNew(t, spec, tab).Latest(); err != nil || latest.Len() != 2 {
		t.Errorf("without known columns: %v", err)
	}
}

// Many missing rows in a row divide a run once, not once per row.
func TestConsecutiveMissingRowsAreOneRejection(t *testing.T) {
	tab := items(100000)
	c := window.Column{Context: true, Target: true, Cells: 1}
	for row := int64(1000); row < 90000; row++ {
		c.Missing = append(c.Missing, window.MissingRow{Row: row, Cells: 1})
	}
	tab.Columns = []window.Column{c, {Target: true, Cells: 1}}
	for _, dilation := range []int64{1, 3} {
		x := mustNew(t, window.Spec{ContextLength: 24, PredictionLength: 8, Dilation: dilation},
			tab)
		if n := len(x.Runs()); n > int(2*32*dilation) ||
			x.Rejected()[window.ReasonMaxMissing] < 89000 {
			t.Errorf("dilation %d: %d runs, rejected %v", dilation, n, x.Rejected())
		}
	}
}
