package api

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func containsText(text, part string) bool { return strings.Contains(text, part) }

func (w *world) windowContents(name string, request map[string]any) (c wire.Windows) {
	w.Helper()
	w.decode(w.do("POST", "/v1/datasets/"+name+"/windows", request), 200, &c)
	return c
}

// windowPart returns the values of the samples [from, to) of a window; rows before the item's first
// are 0.
func (s *shownDataset) windowPart(columns []string, item int, start, from, to,
	dilation int64) (out [][]any) {
	for i := from; i < to; i++ {
		row := start + i*dilation
		features := []any{}
		for _, c := range columns {
			width := 1
			if c == "w" {
				width = 3
			}
			for lane := range width {
				if row < 0 {
					features = append(features, 0.0)
				} else {
					features = append(features, s.featureValues(c, lane)[s.itemOffset(item)+row])
				}
			}
		}
		out = append(out, features)
	}
	return out
}

func TestWindowsHaveTheValuesOfTheDataset(t *testing.T) {
	w := newWorld(t)
	s := w.publishShown("d", "", 40, 3, 25)
	r := rand.New(rand.NewPCG(8, 9))
	for name, spec := range testSpecs {
		spec := withField(spec, "dtype", "float64")
		spec["max_missing"] = nil
		columns := spec["columns"].([]string)
		if name == "gaps" {
			spec["gap"], spec["overlap"], spec["known_columns"], spec["target_columns"] = 1, 2,
				[]string{"i", "b"}, []string{"w", "f"}
		}
		request := map[string]any{"spec": spec}
		plan := w.plan("d", request)
		starts := w.windowStarts("d", request, strideOf(spec))
		number := func(key string) int64 {
			v, _ := spec[key].(int)
			return int64(v)
		}
		c, p, g, l, d := number("context_length"), number("prediction_length"), number("gap"),
			number("overlap"), max(1, number("dilation"))
		numbers := []int64{0, plan.Windows - 1, plan.Windows - 1}
		for range 20 {
			numbers = append(numbers, r.Int64N(plan.Windows))
		}
		got := w.windowContents("d", withField(request, "numbers", numbers))
		if !reflect.DeepEqual(got.Features, plan.Features) || len(got.Windows) != len(numbers) {
			t.Fatalf("%s: %+v", name, got.Features)
		}
		for i, x := range got.Windows {
			at, item := numbers[i], 0
			for ; at >= int64(len(starts[int64(item)])); item++ {
				at -= int64(len(starts[int64(item)]))
			}
			start := starts[int64(item)][at]
			if x.Number != numbers[i] || x.ItemCode != int64(item) || x.Item != s.items[item] ||
				x.Start != start || x.Part != nil {
				t.Fatalf("%s: %+v, want window %d at row %d of item %d", name, x,
					numbers[i], start, item)
			}
			target := columns
			if name == "gaps" {
				target = []string{"w", "f"}
				if want := s.windowPart([]string{"i", "b"}, item, start, 0, c+g+p,
					d); !reflect.DeepEqual(x.Known, want) {
					t.Fatalf("known %v, want %v", x.Known, want)
				}
			}
			want := s.windowPart(columns, item, start, 0, c, d)
			if !reflect.DeepEqual(x.Context, want) {
				t.Fatalf("%s, window %d: context %v, want %v", name, x.Number, x.Context, want)
			}
			want = s.windowPart(target, item, start, c+g-l, c+g+p, d)
			if !reflect.DeepEqual(x.Target, want) {
				t.Fatalf("%s, window %d: target %v, want %v", name, x.Number, x.Target, want)
			}
			for k, real := range x.Mask {
				if real != (start+int64(k) >= 0) {
					t.Fatalf("%s: mask %v at row %d", name, x.Mask, start)
				}
			}
			if (x.Mask != nil) != (name == "padded") {
				t.Fatalf("%s: mask %v", name, x.Mask)
			}
		}
	}
}

func TestTheWindowOfARowIsTheNearestThatContainsIt(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 40, 3, 25)
	for name, spec := range testSpecs {
		request := map[string]any{"spec": spec}
		rows := int64(spec["context_length"].(int) + spec["prediction_length"].(int))
		if name == "from end" {
			rows = rows*2 - 1
		}
		starts := w.windowStarts("d", request, strideOf(spec))[2]
		for row := range int64(25) {
			got := w.windowContents("d", withField(withField(request, "item_code", 2), "row", row))
			at := -1
			for i, s := range starts {
				if s <= row && row < s+rows {
					at = i
				}
			}
			if at < 0 && len(got.Windows) == 0 {
				continue
			}
			if at < 0 || len(got.Windows) != 1 || got.Windows[0].ItemCode != 2 ||
				got.Windows[0].Start != starts[at] {
				t.Errorf("%s: row %d is held by %+v, want window %d of %v", name, row,
					got.Windows, at, starts)
			}
		}
	}
}

func TestAWindowSaysItsPartOfTheSplit(t *testing.T) {
	w := newWorld(t)
	split := map[string]any{"lengths": []int{8640, 2880, 2880}}
	request := map[string]any{"spec": etthSpec, "split": split}
	got := w.windowContents(w.loadETTh1(),
		withField(request, "numbers", []int{0, 8208, 8209, 8304, 16988}))
	var names []string
	for _, x := range got.Windows {
		if x.Part == nil {
			names = append(names, "none")
		} else {
			names = append(names, *x.Part)
		}
	}
	if want := []string{"train", "train", "none", "val", "none"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if x := got.Windows[1]; x.Start != 8208 || x.Time != "2017-06-08T00:00:00Z" ||
		len(x.Context) != 336 || len(x.Context[0]) != 7 || len(x.Target) != 96 || x.Known != nil ||
		x.Mask != nil || x.Static != nil {
		t.Errorf("%+v", x)
	}
}

func TestInvalidWindowsRequestsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 9000, 20)
	plain := map[string]any{"spec": testSpecs["plain"]}
	huge := map[string]any{"spec": map[string]any{"context_length": 8000, "columns": []string{"w"},
		"max_missing": nil}}
	for says, request := range map[string]map[string]any{
		"numbers: got 9008, want numbers from 0 to 9007": withField(plain, "numbers",
			[]int{0, 9008}),
		"numbers: got -1": withField(plain, "numbers", []int{-1}),
		"numbers: got 65 of them, want at most 64": withField(plain, "numbers",
			make([]int, 65)),
		"numbers: got neither numbers nor row": plain,
		"numbers: got both numbers and row": withField(
			withField(plain, "numbers", []int{0}), "row", 1),
		"item_code: got it with numbers": withField(
			withField(plain, "numbers", []int{0}), "item_code", 1),
		"item_code: got 2, want a code from 0 to 1": withField(
			withField(plain, "row", 0), "item_code", 2),
		"windows: the content of 64 windows is 1536000 val": withField(huge, "numbers",
			make([]int, 64)),
		"no window exists": {"spec": map[string]any{"context_length": 9999}, "numbers": []int{0}},
	} {
		p := w.decodeProblem(w.do("POST", "/v1/datasets/d/windows", request))
		if p.Status/100 != 4 || !containsText(p.Detail, says) {
			t.Errorf("%+v, want %q", p, says)
		}
	}
	if got := w.windowContents("d", withField(plain, "numbers", []int{})); len(got.Windows) != 0 {
		t.Errorf("%+v", got)
	}
}
