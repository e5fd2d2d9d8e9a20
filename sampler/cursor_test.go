package sampler_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
)

// mustNew returns a sampler, or fails the test if the options are refused.
func mustNew(t *testing.T, x sampler.Windows, o sampler.Options) *sampler.Sampler {
	t.Helper()
	s, err := sampler.New(x, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCursorContainsOnlyWhatItsOrderNeeds(t *testing.T) {
	x := list{runs: []run{{0, 50}, {1, 50}}, contiguous: true}
	for _, c := range []struct {
		o    sampler.Options
		want string
	}{
		{sampler.Options{BatchSize: 8, Seed: 3},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"sequential"}`},
		{sampler.Options{BatchSize: 8, Seed: 3, Order: "shuffle", NumReplicas: 2, Rank: 1},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"shuffle","seed":3}`},
		{sampler.Options{BatchSize: 8, Seed: 3, Order: "random_start"},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"random_start","seed":3,"batch_size":8}`},
		{sampler.Options{BatchSize: 4, Seed: 3, Order: "lanes", NumReplicas: 2},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"lanes","seed":3,"lanes":8}`},
		{sampler.Options{BatchSize: 4, Seed: 3, Order: "cross_section"},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"cross_section","seed":3,"batch_size":4,"min_items":1}`},
		{sampler.Options{BatchSize: sampler.WholeGroups, Seed: 3, Order: "cross_section_sequential"},
			`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"cross_section_sequential","min_items":1}`},
	} {
		data, err := json.Marshal(mustNew(t, x, c.o).Cursor("d", "w", 2, 40))
		if err != nil || string(data) != c.want {
			t.Errorf("%s, want %s: %v", data, c.want, err)
		}
	}
}

func TestCursorsThatDoNotMatchNameTheDifference(t *testing.T) {
	x := list{runs: []run{{0, 25}, {0, 25}}, contiguous: true}
	shuffle := sampler.Options{BatchSize: 8, Seed: 3, Order: "shuffle"}
	random := sampler.Options{BatchSize: 8, Seed: 3, Order: "random_start"}
	lanes := sampler.Options{BatchSize: 8, Seed: 3, Order: "lanes"}
	groups := sampler.Options{BatchSize: 8, Seed: 3, Order: "cross_section"}
	weighted := sampler.Options{BatchSize: 8, Order: "bootstrap", Weights: sampler.Weights{Items: []float64{2}}}
	even := sampler.Weights{Name: sampler.EvenWeights}
	change := func(o sampler.Options, f func(*sampler.Options)) sampler.Options {
		f(&o)
		return o
	}
	for _, c := range []struct {
		from, to sampler.Options
		dataset  string
		windows  string
		wants    []string // parts of the error; nil if the cursor matches
	}{
		{shuffle, shuffle, "d", "w", nil},
		{shuffle, change(shuffle, func(o *sampler.Options) { o.BatchSize, o.NumReplicas = 3, 5 }),
			"d", "w", nil},
		{shuffle, shuffle, "e", "w", []string{`dataset is "d", want "e"`}},
		{shuffle, shuffle, "d", "v", []string{`windows is "w", want "v"`}},
		{shuffle, change(shuffle, func(o *sampler.Options) { o.Seed = 4 }), "e", "w",
			[]string{"dataset", `seed is "3", want "4"`}},
		{shuffle, random, "d", "w", []string{`order is "shuffle", want "random_start"`}},
		{random, change(random, func(o *sampler.Options) { o.BatchSize = 7 }), "d", "w",
			[]string{`batch_size is "8", want "7"`}},
		{random, change(random, func(o *sampler.Options) { o.NumReplicas = 3 }), "d", "w", nil},
		{lanes, change(lanes, func(o *sampler.Options) { o.BatchSize, o.NumReplicas = 2, 4 }),
			"d", "w", nil},
		{lanes, change(lanes, func(o *sampler.Options) { o.NumReplicas = 2 }), "d", "w",
			[]string{`lanes is "8", want "16"`}},
		{weighted, change(weighted, func(o *sampler.Options) { o.Weights.Items = []float64{3} }), "d",
			"w", []string{"weights"}},
		{weighted, change(weighted, func(o *sampler.Options) { o.Weights = even }), "d", "w",
			[]string{`want "even"`}},
		{change(weighted, func(o *sampler.Options) { o.Weights = even }),
			change(weighted, func(o *sampler.Options) { o.Weights = sampler.Weights{} }), "d", "w",
			[]string{`weights is "even", want ""`}},
		{groups, change(groups, func(o *sampler.Options) { o.NumReplicas = 3 }), "d", "w", nil},
		{groups, change(groups, func(o *sampler.Options) { o.MinItems = 1 }), "d", "w", nil},
		{groups, change(groups, func(o *sampler.Options) { o.BatchSize = sampler.WholeGroups }),
			"d", "w", []string{`batch_size is "8", want "null"`}},
		{change(groups, func(o *sampler.Options) { o.MinItems = 2 }), groups, "d", "w",
			[]string{`min_items is "2", want "1"`}},
		{groups, change(groups, func(o *sampler.Options) { o.Seed = 4 }), "d", "w",
			[]string{`seed is "3", want "4"`}},
		// The order sequential has no seed.
		{sampler.Options{BatchSize: 8, Seed: 1}, sampler.Options{BatchSize: 8, Seed: 2},
			"d", "w", nil},
	} {
		err := mustNew(t, x, c.to).Check(mustNew(t, x, c.from).Cursor("d", "w", 1, 0),
			c.dataset, c.windows)
		if (err == nil) != (c.wants == nil) || err != nil && !errors.Is(err, sampler.ErrCursor) {
			t.Errorf("%+v to %+v: %v, want %q", c.from, c.to, err, c.wants)
		}
		for _, want := range c.wants {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not contain %q", err, want)
			}
		}
	}
	s := mustNew(t, x, lanes)
	for consumed, valid := range map[int64]bool{0: true, 8: true, 50: true, 51: false, 9: false} {
		if err := s.Check(s.Cursor("d", "w", 0, consumed), "d", "w"); (err == nil) != valid {
			t.Errorf("consumed %d: %v", consumed, err)
		}
	}
}

func TestInvalidCursorsAreRefused(t *testing.T) {
	const good = `{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"shuffle","seed":18446744073709551615}`
	if c, err := sampler.ParseCursor([]byte(good)); err != nil || c.Seed != 1<<64-1 ||
		c.Consumed != 40 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{
		``, `null`, `[]`, good + `{}`, good[:len(good)-1],
		strings.Replace(good, "epoch", "Epoch", 1),
		strings.Replace(good, `"epoch":2`, `"epoch":2,"epoch":2`, 1),
		strings.Replace(good, `"epoch":2,`, ``, 1),
		strings.Replace(good, `"epoch":2`, `"epoch":-2`, 1),
		strings.Replace(good, `"epoch":2`, `"epoch":2.5`, 1),
		strings.Replace(good, `"epoch":2`, `"epoch":null`, 1),
		strings.Replace(good, `40`, `-40`, 1),
		strings.Replace(good, `40`, `9223372036854775808`, 1),
		strings.Replace(good, `"shuffle"`, `"shuffled"`, 1),
		strings.Replace(good, `"shuffle"`, `"sequential"`, 1), // must not have a seed
		strings.Replace(good, `"shuffle"`, `"lanes"`, 1),      // must have lanes
		strings.Replace(good, `"seed"`, `"batch_size":8,"seed"`, 1),
		strings.Replace(good, `"seed"`, `"weights":"x","seed"`, 1),
		strings.Replace(good, `"seed"`, `"min_items":1,"seed"`, 1),
		strings.Replace(good, `"shuffle"`, `"cross_section"`, 1), // must have min_items
		strings.Replace(good, `"shuffle"`, `"cross_section","min_items":-1`, 1),
		strings.Replace(good, `"shuffle"`, `"cross_section","min_items":1,"batch_size":-1`, 1),
		strings.Replace(good, `"seed"`, `"sead"`, 1),
	} {
		if c, err := sampler.ParseCursor([]byte(bad)); !errors.Is(err, sampler.ErrCursor) {
			t.Errorf("%s is read as %+v: %v", bad, c, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{
		`{"epoch":2,"consumed":40,"dataset":"d","windows":"w","order":"shuffle","seed":18446744073709551615}`,
		`{"epoch":0,"consumed":0,"dataset":"","windows":"","order":"random_start","seed":1,"batch_size":32}`,
		`{"epoch":0,"consumed":0,"dataset":"","windows":"","order":"lanes","lanes":1}`,
		`{"epoch":0,"consumed":0,"dataset":"","windows":"","order":"cross_section","min_items":1}`,
		`{"epoch":0,"consumed":0,"dataset":"","windows":"","order":"bootstrap","weights":"00"}`,
		`{"epoch":1e3,"consumed":"1"}`, `{"epoch":1,"epoch":1}`, `[`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := sampler.ParseCursor(data)
		if err != nil {
			if !errors.Is(err, sampler.ErrCursor) {
				t.Fatalf("%q: %v, want an ErrCursor", data, err)
			}
			return
		}
		out, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := sampler.ParseCursor(out)
		if err != nil || again != c || c.Check(again) != nil {
			t.Fatalf("%q is written as %q and read back as %+v: %v", data, out, again, err)
		}
		s := mustNew(t, list{runs: []run{{0, 50}, {1, 7}}, contiguous: true},
			sampler.Options{Order: c.Order, BatchSize: 4})
		if s.Check(c, c.Dataset, c.Windows) == nil && s.Steps(c.Epoch, c.Consumed) > 15 {
			t.Fatalf("%q leaves %d steps", data, s.Steps(c.Epoch, c.Consumed))
		}
	})
}

func TestCursorsOfOtherSpecsNameTheFields(t *testing.T) {
	spec := func(fields string) sampler.Cursor {
		return sampler.Cursor{Order: "shuffle", Windows: fields,
			Spec: `{"spec":{` + fields + `},"cuts":[]}`}
	}
	long := strings.Repeat("9", 100)
	for _, c := range []struct {
		from, to sampler.Cursor
		want     string
	}{
		{spec(`"context_length":8,"gap":1`), spec(`"context_length":9,"gap":1`),
			"cursor does not fit: context_length is 8, want 9"},
		{spec(`"context_length":8,"columns":["a"]`), spec(`"context_length":8,"stride":2`),
			`cursor does not fit: columns is ["a"], want not given; stride is not given, want 2`},
		{spec(`"context_length":8`), spec(`"context_length":` + long),
			"cursor does not fit: context_length is 8, want " + long[:80] + "…"},
		{sampler.Cursor{Order: "shuffle", Windows: "a"}, spec(`"context_length":8`),
			`windows is "a", want`},
		{sampler.Cursor{Order: "shuffle", Windows: "a", Spec: "[]"}, spec(`"context_length":8`),
			`windows is "a", want`},
	} {
		if err := c.from.Check(c.to); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	cut := spec(`"context_length":8`)
	cut.Windows, cut.Spec = "other", `{"spec":{"context_length":8},"cuts":[{"latest":true}]}`
	if err := spec(`"context_length":8`).Check(cut); err == nil ||
		!strings.Contains(err.Error(), `cuts is [], want [{"latest":true}]`) {
		t.Errorf("cuts: %v", err)
	}
}
