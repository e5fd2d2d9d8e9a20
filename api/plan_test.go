package api

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

func (w *world) plan(name string, request map[string]any) (p wire.PlanReply) {
	w.Helper()
	w.decode(w.do("POST", "/v1/datasets/"+name+"/plan", request), 200, &p)
	return p
}

func TestThePlanOfETTh1HasTheCountsOfPapers(t *testing.T) {
	w := newWorld(t)
	split := map[string]any{"lengths": []int{8640, 2880, 2880}}
	p := w.plan(w.loadETTh1(), map[string]any{"spec": etthSpec, "split": split})
	if by := w.plan("etth1", map[string]any{"spec": etthSpec, "split": split, "digest": p.Digest}); !reflect.DeepEqual(by, p) {
		t.Errorf("by its digest %v, want %v", by, p)
	}
	if p.Windows != 16989 || p.Positions != 17420 || p.Items != 1 || len(p.Rejected) != 1 ||
		p.Rejected[window.ReasonItemEnd] != 431 {
		t.Errorf("%d windows of %d positions, rejected %v; "+
			"want 16,989 of 17,420 and 431 by item_end", p.Windows, p.Positions, p.Rejected)
	}
	for i, want := range []struct {
		name    string
		windows int64
	}{{"train", 8209}, {"val", 2785}, {"test", 2785}} {
		if s := p.Splits[i]; s.Name != want.name || s.Windows != want.windows {
			t.Errorf("part %d is %s with %d windows, want %s with %d", i, s.Name, s.Windows,
				want.name, want.windows)
		}
		part := w.plan("etth1", map[string]any{"spec": etthSpec, "cuts": []any{p.Splits[i].Cut}})
		if part.Windows != want.windows || part.Positions != p.Splits[i].Positions {
			t.Errorf("its cut gives %d windows of %d positions, want %d of %d", part.Windows,
				part.Positions, want.windows, p.Splits[i].Positions)
		}
	}
	first, last := wire.WindowPlace{Start: 0, Time: "2016-07-01T00:00:00Z"},
		wire.WindowPlace{Start: 16988, Time: "2018-06-08T20:00:00Z"}
	if *p.First != first || *p.Last != last {
		t.Errorf("from %+v to %+v, want %+v to %+v", *p.First, *p.Last, first, last)
	}
	if p.DType != "float32" || p.Path != batch.PathTranspose ||
		strings.Join(p.Features.Context, " ") != "HUFL HULL MUFL MULL LUFL LULL OT" ||
		p.BatchPlan != nil {
		t.Errorf("%s by %s of %v", p.DType, p.Path, p.Features)
	}
}

func TestPlansNameThePathOfDelivery(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	for _, test := range []struct {
		change map[string]any
		first  bool
		path   string
	}{
		{nil, false, "transpose"},
		{map[string]any{"dtype": nil}, true, "memcpy"},
		{map[string]any{"dtype": nil, "dilation": 2}, true, "transpose"},
		{map[string]any{"columns": []string{"OT"}, "dtype": "float64"}, false, "memcpy"},
		{map[string]any{"columns": []string{"OT"}}, false, "transpose"}, // values are converted
	} {
		spec := map[string]any{"context_length": 336, "prediction_length": 96}
		for k, v := range test.change {
			spec[k] = v
		}
		if p := w.plan("etth1",
			map[string]any{"spec": spec, "channels_first": test.first}); p.Path != test.path {
			t.Errorf("%v, channels_first %v: %s, want %s", test.change, test.first,
				p.Path, test.path)
		}
	}
}

func TestPlansAreOfTheParts(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	part := map[string]any{"name": "x", "part": "context", "columns": []string{"OT"}, "dtype": "float64"}
	p := w.plan("etth1", map[string]any{
		"spec":    map[string]any{"context_length": 336, "prediction_length": 96},
		"options": map[string]any{"batch_size": 10}, "parts": []any{part}})
	if want := int64(10*336*8 + 2*128); p.BatchBytes != want || p.Path != batch.PathMemcpy {
		t.Errorf("%d bytes by %s, want %d by memcpy", p.BatchBytes, p.Path, want)
	}
	if len(p.Features.Context) != 7 || p.DType != "float32" {
		t.Errorf("features %v and dtype %s, want those of the spec", p.Features.Context, p.DType)
	}
}

func TestInvalidPlanRequestsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	zeros := strings.Repeat("0", 32)
	for name, test := range map[string]struct {
		request   map[string]any
		typ, says string
	}{
		"a context too long": {map[string]any{"spec": map[string]any{"context_length": 20000}},
			wire.NoWindows, "context_length 20000 needs 20000 rows; the longest item has 17420"},
		"parts and a mask": {map[string]any{"spec": map[string]any{"context_length": 1}, "mask": true,
			"parts": []any{map[string]any{"name": "x", "part": "context"}}}, wire.InvalidSpec,
			"mask: got true with parts"},
		"an unknown part": {map[string]any{"spec": map[string]any{"context_length": 1},
			"parts": []any{map[string]any{"name": "x", "part": "target"}}}, wire.InvalidSpec,
			"parts: these windows have no target"},
		"an unknown column": {map[string]any{"spec": map[string]any{"context_length": 1,
			"columns": []string{"HULF"}}}, wire.ColumnNotFound,
			`no column is named "HULF"; near: HULL, HUFL`},
		"an old generation": {map[string]any{"spec": etthSpec, "generation": 9},
			wire.GenerationGone,
			"the newest is 1"},
		"another digest": {map[string]any{"spec": etthSpec, "generation": 1, "digest": zeros},
			wire.GenerationGone, "the request names " + zeros},
		"a digest of none": {map[string]any{"spec": etthSpec, "digest": zeros},
			wire.GenerationGone, `no generation of "etth1" has digest ` + zeros + "; the newest, 1, has "},
		"no digest": {map[string]any{"spec": etthSpec, "digest": "00\n"},
			wire.InvalidRequest, `digest: got "00\n", want 32 hex digits in lower case`},
		"a split into pieces": {map[string]any{"spec": etthSpec, "split": "half"},
			wire.InvalidSpec, "split"},
		"an unknown order": {map[string]any{"spec": etthSpec,
			"options": map[string]any{"batch_size": 8, "order": "any"}}, wire.InvalidSpec,
			`order: got "any"`},
		"a batch of none": {map[string]any{"spec": etthSpec, "options": map[string]any{}},
			wire.InvalidSpec, `batch_size: got 0`},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.TB = t
			w.wantProblem(w.do("POST", "/v1/datasets/etth1/plan", test.request),
				test.typ, test.says)
		})
	}
}

func TestASplitWithAnEmptyPartIsRefused(t *testing.T) {
	w := newWorld(t)
	split := map[string]any{"lengths": []int{17000, 50}}
	name := w.loadETTh1()
	w.wantProblem(w.do("POST", "/v1/datasets/"+name+"/plan",
		map[string]any{"spec": etthSpec, "split": split}), wire.NoWindows,
		`lengths: got [17000,50], but part "test" has no window: of 50 positions, split rejects 50`)
	// With cuts, there may be no window.
	cut := map[string]any{"split": split, "part": 1}
	empty := w.plan(name, map[string]any{"spec": etthSpec, "cuts": []any{cut},
		"options": map[string]any{"batch_size": 8}})
	if empty.Windows != 0 || empty.First != nil || empty.BatchPlan != nil {
		t.Errorf("%+v", empty)
	}
}

func TestRunsAreTheIndex(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	a := w.do("POST", "/v1/datasets/etth1/runs", map[string]any{"spec": etthSpec})
	if a.status != 200 || a.header.Get("Content-Type") != "application/octet-stream" ||
		len(a.body) != 24 {
		t.Fatalf("%d of %s: %d bytes", a.status, a.header.Get("Content-Type"), len(a.body))
	}
	for i, want := range []uint64{0, 0, 16989} {
		if got := binary.LittleEndian.Uint64(a.body[8*i:]); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// TestAPlansRanksGetWhatASamplerServes compares plans of every order and tail with the batches of a
// sampler.
func TestAPlansRanksGetWhatASamplerServes(t *testing.T) {
	w := newWorld(t)
	source := "id,a\n"
	for i, rows := range []int{30, 1, 17, 46} {
		for r := range rows {
			source += fmt.Sprintf("s%d,%d\n", i, r)
		}
	}
	if job := w.load("few", map[string]any{"sources": []string{w.source("few.csv", source)},
		"item_id": []string{"id"}}); job.State != wire.JobDone {
		t.Fatalf("%+v", job.Error)
	}
	spec := map[string]any{"context_length": 3, "stride": 3, "prediction_length": 1}
	h, err := w.store.Acquire("few", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	windows, err := plan.New(h, asJSON(spec), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"", "shuffle", "bootstrap", "random_start", "lanes"} {
		for _, tail := range []string{"", "short", "wrap", "drop"} {
			for _, ranks := range []int64{1, 2, 3, 5} {
				for _, size := range []sampler.BatchSize{1, 2, 4, 7, 50} {
					o := sampler.Options{Order: order, Tail: tail, NumReplicas: ranks,
						BatchSize: size, Seed: 3}
					a := w.do("POST", "/v1/datasets/few/plan",
						map[string]any{"spec": spec, "options": o})
					if a.status != 200 {
						w.wantProblem(a, wire.NoWindows, "drop")
						continue
					}
					var p wire.PlanReply
					w.decode(a, 200, &p)
					comparePlan(t, windows.Index, o, p.BatchPlan)
				}
			}
		}
	}
}

func comparePlan(t *testing.T, x *window.Index, o sampler.Options, p *wire.BatchPlan) {
	t.Helper()
	if int64(len(p.Ranks)) != o.NumReplicas {
		t.Fatalf("%+v: %d ranks", o, len(p.Ranks))
	}
	all := int64(0)
	for rank, got := range p.Ranks {
		o.Rank = int64(rank)
		s, err := sampler.New(x, o)
		if err != nil {
			t.Fatal(err)
		}
		want := wire.RankPlan{Rank: o.Rank}
		var b sampler.Batch
		var last int64
		for consumed := int64(0); s.Steps(0, consumed) > 0; consumed = b.Next {
			if err := s.Batch(&b, 0, consumed); err != nil {
				t.Fatal(err)
			}
			last = int64(len(b.Windows))
			want.Batches++
			want.Windows += last
		}
		if got != want {
			t.Errorf("%+v: rank %+v, want %+v", o, got, want)
		}
		if rank == 0 && (p.Batches != want.Batches || p.LastBatch != last) {
			t.Errorf("%+v: %d batches, the last of %d; want %d, %d", o, p.Batches, p.LastBatch,
				want.Batches, last)
		}
		all += want.Windows
	}
	if o.Tail == sampler.Short && all != x.Len() {
		t.Errorf("%+v: the ranks get %d windows of %d", o, all, x.Len())
	}
	if p.BatchBytes < int64(o.BatchSize)*(3+1)*4 || p.BatchBytes > math.MaxInt32 {
		t.Errorf("%+v: %d bytes a batch", o, p.BatchBytes)
	}
}

// TestAPlanOfManyPartsIsBounded is needed because the cut of each part repeats the split: the size
// of a response could grow with the square of the request.
func TestAPlanOfManyPartsIsBounded(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	body := func(parts, name int) map[string]any {
		lengths, names := make([]int, parts), make([]string, parts)
		for i := range parts {
			lengths[i], names[i] = 1, fmt.Sprintf("%0*d", name, i)
		}
		return map[string]any{"spec": etthSpec,
			"split": map[string]any{"lengths": lengths, "names": names}}
	}
	w.wantProblem(w.do("POST", "/v1/datasets/etth1/plan", body(100_000, 6)), wire.InvalidSpec,
		`lengths: want at most 1000 parts, not 100000`)
	w.wantProblem(w.do("POST", "/v1/datasets/etth1/plan", body(200, 1000)), wire.TooLarge,
		"split: the cuts of its 200 parts are over 16777216 bytes")
}

// TestAPlanForARankThatIsNotListed checks that the first ranks are listed, whatever rank the
// request has.
func TestAPlanForARankThatIsNotListed(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	o := sampler.Options{BatchSize: 2, NumReplicas: maxRanks + 10, Rank: maxRanks + 5}
	p := w.plan("etth1", map[string]any{"spec": etthSpec, "options": o})
	if want := (p.Windows-1)/(int64(o.BatchSize)*o.NumReplicas) + 1; p.BatchPlan.Batches != want ||
		p.BatchPlan.LastBatch != int64(o.BatchSize) || len(p.BatchPlan.Ranks) != maxRanks {
		t.Errorf("%d batches, the last of %d, and %d ranks; want %d of %d windows, and %d",
			p.BatchPlan.Batches, p.BatchPlan.LastBatch, len(p.BatchPlan.Ranks), want,
			o.BatchSize, maxRanks)
	}
}

// TestAPlanOfHugeBatchesTakesNoMoreThanOneOfSmallOnes uses the tail wrap, which repeats the epoch
// until a batch is full.
func TestAPlanOfHugeBatchesTakesNoMoreThanOneOfSmallOnes(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	for _, order := range []string{"sequential", "shuffle", "bootstrap", "random_start", "lanes"} {
		for _, tail := range []string{"short", "wrap"} {
			o := sampler.Options{Order: order, Tail: tail, BatchSize: 1 << 34, NumReplicas: 1 << 8}
			spec := map[string]any{"context_length": 2, "stride": 2, "prediction_length": 1,
				"columns": []string{"OT"}}
			p := w.plan("etth1", map[string]any{"spec": spec, "options": o})
			want := int64(o.BatchSize)
			if order == "random_start" || tail == "short" {
				want = p.BatchPlan.Ranks[0].Windows
			}
			if p.BatchPlan.Batches != 1 || p.BatchPlan.LastBatch != want || want == 0 ||
				p.BatchPlan.BatchBytes < int64(o.BatchSize) {
				t.Errorf("%s, %s: %d batches, the last of %d, of %d bytes", order, tail,
					p.BatchPlan.Batches, p.BatchPlan.LastBatch, p.BatchPlan.BatchBytes)
			}
		}
	}
}
