package api

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// withField returns a copy of a request with one more field.
func withField(request map[string]any, key string, value any) map[string]any {
	r := maps.Clone(request)
	r[key] = value
	return r
}

func (w *world) stretches(name string, request map[string]any) (s wire.Stretches) {
	w.Helper()
	w.decode(w.do("POST", "/v1/datasets/"+name+"/stretches", request), 200, &s)
	return s
}

// windowStarts returns the starts of the windows of each item, from the runs.
func (w *world) windowStarts(name string, request map[string]any, stride int64) map[int64][]int64 {
	w.Helper()
	a := w.do("POST", "/v1/datasets/"+name+"/runs", request)
	if a.status != 200 {
		w.Fatalf("%s", a.body)
	}
	starts := map[int64][]int64{}
	for b := a.body; len(b) > 0; b = b[runBytes:] {
		var run [3]int64
		for i := range run {
			run[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		for k := range run[2] {
			starts[run[0]] = append(starts[run[0]], run[1]+k*stride)
		}
	}
	return starts
}

var testSpecs = map[string]map[string]any{
	"plain": {"context_length": 5, "prediction_length": 2, "columns": []string{"i"}},
	"gaps": {"context_length": 4, "prediction_length": 2, "columns": []string{"f"},
		"max_missing": 0.2},
	"jumps": {"context_length": 4, "prediction_length": 1, "stride": 3,
		"columns": []string{"i", "b"}, "max_step": "60s"},
	"bounds": {"context_length": 3, "prediction_length": 2, "rows": []int{4, -3},
		"columns": []string{"f"}, "max_missing": 0.4, "stride": 2},
	"padded": {"context_length": 6, "prediction_length": 1, "min_context": 2,
		"columns": []string{"w"}, "max_missing": 0.3, "max_step": "1h"},
	"from end": {"context_length": 4, "prediction_length": 2, "anchor": "end", "stride": 5,
		"dilation": 2, "columns": []string{"i"}},
}

func TestStretchesAddUpToThePlanAndContainItsWindows(t *testing.T) {
	w := newWorld(t)
	rows := []int64{60, 5, 130, 1}
	w.publishShown("d", "", rows...)
	split := map[string]any{"lengths": []any{30, nil}, "purge": 2, "context_before_split": false}
	for name, spec := range testSpecs {
		request := map[string]any{"spec": spec}
		plan := w.plan("d", request)
		starts := w.windowStarts("d", request, strideOf(spec))
		rejected, positions := map[window.Reason]int64{}, int64(0)
		for code := range rows {
			s := w.stretches("d", withField(request, "item_code", code))
			if s.Rows != rows[code] || s.Stride != strideOf(spec) || s.Splits != nil || s.Merged {
				t.Errorf("%s: %+v", name, s)
			}
			var windows []int64
			at, sum := int64(-1<<60), int64(0)
			for _, x := range s.Stretches {
				if x.From <= at || (x.To-1-x.From)/s.Stride+1 != x.Positions || x.Reason != nil &&
					x.Windows != 0 || x.Reason == nil && x.Windows != x.Positions {
					t.Fatalf("%s: %+v after row %d", name, x, at)
				}
				for start := x.From; start < x.To; start += s.Stride {
					if x.Reason == nil {
						windows = append(windows, start)
					}
				}
				if x.Reason != nil {
					rejected[*x.Reason] += x.Positions
				}
				at, sum = x.To-1, sum+x.Positions
			}
			if positions += sum; sum != s.Positions || int64(len(windows)) != s.Windows ||
				!slices.Equal(windows, starts[int64(code)]) {
				t.Errorf("%s, item %d: windows at %v of %d positions, want %v of %d", name, code,
					windows, sum, starts[int64(code)], s.Positions)
			}
		}
		if positions != plan.Positions || !maps.Equal(rejected, plan.Rejected) {
			t.Errorf("%s: rejected %v of %d positions, want %v of %d", name, rejected, positions,
				plan.Rejected, plan.Positions)
		}
		plan = w.plan("d", withField(request, "split", split))
		for part, want := range plan.Splits {
			lost, kept, ends := map[window.Reason]int64{}, int64(0), int64(0)
			for code, n := range rows {
				s := w.stretches("d", withField(withField(request, "split", split), "item_code", code))
				if p := s.Splits[part]; p.Name != want.Name || p.From > p.To || p.To > n {
					t.Fatalf("%s: %+v of %d rows", name, p, n)
				}
				ends += s.Splits[part].Windows
				for _, x := range s.Stretches {
					if *x.Part != part {
						continue
					}
					if kept += x.Windows; x.Reason != nil {
						lost[*x.Reason] += x.Positions
					}
				}
			}
			if kept != want.Windows || ends != want.Windows || !maps.Equal(lost, want.Rejected) {
				t.Errorf("%s, part %s: %d windows, rejected %v, want %d and %v", name, want.Name,
					kept, lost, want.Windows, want.Rejected)
			}
		}
	}
}

func strideOf(spec map[string]any) int64 {
	if s, ok := spec["stride"].(int); ok {
		return int64(s)
	}
	return 1
}

func TestTooManyStretchesAreJoinedAndLoseNoPosition(t *testing.T) {
	reasons := []*window.Reason{nil, &window.Reasons[2], &window.Reasons[3], &window.Reasons[3]}
	for _, n := range []int{8, 9, 10, 500} {
		var all []wire.Stretch
		at, lost := int64(-5), int64(0)
		for i := range n {
			positions := int64(i%5 + 1)
			s := wire.Stretch{From: at, To: at + positions, Positions: positions,
				Reason: reasons[i%len(reasons)]}
			if s.Reason == nil {
				s.Windows = positions
			} else {
				lost += positions
			}
			all, at = append(all, s), s.To
		}
		got, merged := limitStretches(9, slices.Values(all))
		if len(got) > 9 || merged != (n > 9) || !merged && len(got) != n {
			t.Fatalf("%d stretches of %d, merged %t", len(got), n, merged)
		}
		end := int64(-5)
		for _, s := range got {
			if s.From != end || s.Positions != s.To-s.From || s.Reason == nil &&
				s.Windows != s.Positions || s.Reason != nil && s.Windows == s.Positions {
				t.Errorf("%+v after row %d", s, end)
			}
			end, lost = s.To, lost-(s.Positions-s.Windows)
		}
		if end != at || lost != 0 {
			t.Errorf("they end at row %d, %d rejected too few; want %d", end, lost, at)
		}
	}
}

func TestInvalidStretchesRequestsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 20, 20)
	plain := map[string]any{"spec": testSpecs["plain"]}
	for says, request := range map[string]map[string]any{
		"item_code: got 2, want a code from 0 to 1": withField(plain, "item_code", 2),
		"item_code: got -1":                         withField(plain, "item_code", -1),
		`unknown field "item_cod"; near: item_code`: withField(plain, "item_cod", 1),
		"item_code: got text, want a whole number":  withField(plain, "item_code", "A"),
		"split": withField(plain, "split", 3),
		"latest": withField(
			withField(plain, "cuts", []any{map[string]any{"latest": true}}), "split",
			map[string]any{"lengths": []int{5, 5}}),
		"context_length": {"spec": map[string]any{"context_length": 0}},
	} {
		p := w.decodeProblem(w.do("POST", "/v1/datasets/d/stretches", request))
		if p.Status/100 != 4 || !containsText(p.Detail, says) {
			t.Errorf("%+v, want %q", p, says)
		}
	}
	latest := w.stretches("d", withField(plain, "cuts", []any{map[string]any{"latest": true}}))
	if fmt.Sprint(latest.Stretches) != "[{15 16 1 1 <nil> <nil>}]" || latest.Windows != 1 {
		t.Errorf("%+v", latest)
	}
}
