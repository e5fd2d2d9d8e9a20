package tensorcache

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/window"
)

// loadETTh1 loads a public dataset, whose window counts papers report.
func loadETTh1(t *testing.T) *Dataset {
	t.Helper()
	d := must(sharedDaemon(t).Load(t.Context(), "etth1", []string{"../../examples/data/ETTh1.csv"},
		LoadOptions{Time: "date"}))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestPlansHaveTheCountsOfPapers(t *testing.T) {
	d, ctx := loadETTh1(t), t.Context()
	w := must(d.Windows(ctx, window.Spec{ContextLength: 336, PredictionLength: 96}))(t)
	if w.Len() != 16_989 || w.Positions() != 17_420 || w.Rejected()["item_end"] != 431 ||
		!slices.Contains(w.Features().Context, "OT") {
		t.Error(w.Len(), w.Positions(), w.Rejected(), w.Features())
	}
	parts := must(w.Split(ctx, Split{Lengths: []int64{8640, 2880, 2880}}))(t)
	for i, want := range []struct {
		name    string
		windows int64
	}{{"train", 8209}, {"val", 2785}, {"test", 2785}} {
		if parts[i].Name() != want.name || parts[i].Len() != want.windows {
			t.Errorf("%s: %d windows, want %s: %d", parts[i].Name(), parts[i].Len(), want.name,
				want.windows)
		}
	}
	p := must(parts[0].Plan(ctx, &FeedOptions{BatchSize: 32, NumReplicas: 2}))(t)
	if p.Windows != 8209 || p.Batches != 129 || len(p.Ranks) != 2 || p.First.Start != 0 ||
		p.First.Time != "2016-07-01T00:00:00Z" || p.BatchBytes == 0 {
		t.Errorf("%+v", p)
	}
	if p := must(parts[0].Plan(ctx, nil))(t); p.Ranks != nil || p.Windows != 8209 {
		t.Errorf("%+v", p)
	}
	latest := must(w.Latest(ctx))(t)
	if latest.Len() != 1 || must(At[float32](ctx, latest, 0))(t).Target.Data != nil {
		t.Error(latest.Len())
	}
	july := must(
		w.Where(ctx,
			Where{Time: &window.TimeBounds{From: ptr(window.At(time.Date(2018, 1, 1, 0, 0, 0, 0,
				time.UTC)))}}))(t)
	if first := must(At[float32](ctx, july, 0))(t); must(first.Times())(t)[0] != time.Date(2018, 1,
		1, 0, 0, 0, 0, time.UTC).Unix()-336*3600 {
		t.Error(must(first.Times())(t))
	}
	rest := must(
		w.Split(ctx, Split{Fractions: []float64{0.5, Rest}, Names: []string{"a", "b"},
			Purge: 10}))(t)
	if rest[0].Name() != "a" || rest[0].Len() != 8710-10-431 {
		t.Error(rest[0].Name(), rest[0].Len())
	}
}

func TestRandomAccessReadsTheColumns(t *testing.T) {
	d, ctx := loadETTh1(t), t.Context()
	w := must(d.Windows(ctx, window.Spec{ContextLength: 3, PredictionLength: 2, Gap: 1, Stride: 5,
		ContextColumns: []string{"HUFL", "OT"}, TargetColumns: []string{"OT"}}))(t)
	hufl, ot := must(Column[float64](d, "HUFL"))(t), must(Column[float64](d, "OT"))(t)
	b := must(At[float32](ctx, w, 7, 0))(t)
	if !slices.Equal(b.Context.Shape, []int{2, 3, 2}) ||
		!slices.Equal(b.Target.Shape, []int{2, 2, 1}) || !slices.Equal(b.Start, []int64{35, 0}) {
		t.Fatal(b.Context.Shape, b.Target.Shape, b.Start)
	}
	for k := range 3 {
		if b.Context.Window(0)[2*k] != float32(hufl[35+k]) ||
			b.Context.Window(0)[2*k+1] != float32(ot[35+k]) {
			t.Error(b.Context.Window(0))
		}
	}
	if b.Target.Window(1)[0] != float32(ot[4]) || b.Rows()[0] != 35 {
		t.Error(b.Target.Window(1), b.Rows())
	}
	all := must(w.Starts(ctx, nil))(t)
	if int64(len(all)) != w.Len() || all[3] != 15 || must(w.PerItem(ctx))(t)[0] != w.Len() {
		t.Error(len(all), all[:4])
	}
	if _, err := At[float32](ctx, w, w.Len()); !errors.Is(err, InvalidRequest) {
		t.Error(err)
	}
}

func TestRefusalsNameTheirField(t *testing.T) {
	d := loadETTh1(t)
	w := must(d.Windows(t.Context(), window.Spec{ContextLength: 4, PredictionLength: 1}))(t)
	windows := func(s window.Spec) error { return errorOf(d.Windows(t.Context(), s)) }
	feed := func(o FeedOptions) error { return errorOf(NewFeed[float32](t.Context(), w, o)) }
	for _, one := range []struct {
		err   error
		typ   Type
		field string
	}{
		{windows(window.Spec{}), InvalidSpec, "context_length"},
		{windows(window.Spec{ContextLength: 1, Stride: -1}), InvalidSpec, "stride"},
		{windows(window.Spec{ContextLength: 1 << 40}), NoWindows, ""},
		{windows(window.Spec{ContextLength: 1, Columns: []string{"OP"}}),
			ColumnNotFound, "columns"},
		{feed(FeedOptions{}), InvalidSpec, "batch_size"},
		{feed(FeedOptions{BatchSize: 1, Order: "random"}), InvalidSpec, "order"},
		{feed(FeedOptions{BatchSize: 0, Order: "random_start"}), InvalidSpec, "batch_size"},
		{feed(FeedOptions{BatchSize: 1, Rank: 1}), InvalidSpec, "rank"},
		{feed(FeedOptions{BatchSize: 1, Slots: 2}), InvalidSpec, "slots"},
		{errorOf(w.Split(t.Context(), Split{})), InvalidSpec, "split"},
		{errorOf(w.Split(t.Context(), Split{Lengths: []int64{1, 1}, Fractions: []float64{1}})),
			InvalidSpec, "split"},
		{errorOf(w.Where(t.Context(), Where{})), InvalidSpec, "where"},
		{errorOf(w.Where(t.Context(), Where{Items: []any{"a"}})), InvalidSpec, "where.items"},
	} {
		var e *Error
		if !errors.As(one.err, &e) || e.Type != one.typ || !strings.HasSuffix(e.Field, one.field) {
			t.Errorf("got %#v, want %s of field %q", one.err, one.typ, one.field)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Windows(ended, window.Spec{ContextLength: 1}); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
}

func TestRefusedBatchSizesNameTheirField(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 30, window.Spec{})
	for words, o := range map[string]FeedOptions{
		`got 0, want a whole number from 1`:             {},
		`got null, want a whole number from 1`:          {WholeGroups: true},
		"got 4 with WholeGroups, want one of them":      {WholeGroups: true, BatchSize: 4},
		`got -9223372036854775807, want a whole number`: {BatchSize: math.MinInt64},
	} {
		var refused *Error
		for _, err := range []error{
			func() error { _, err := NewFeed[float32](t.Context(), w, o); return err }(),
			func() error { _, err := w.Plan(t.Context(), &o); return err }(),
		} {
			if !errors.As(err, &refused) || refused.Field != "batch_size" ||
				!strings.Contains(refused.Detail, words) {
				t.Errorf("%+v: %v, want %s", o, err, words)
			}
		}
	}
}

func TestRefusedWeightsNameTheirField(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 30, window.Spec{})
	both := FeedOptions{BatchSize: 4, Order: "bootstrap", Weights: []float64{1}, EvenWeights: true}
	var why *Error
	if _, err := w.Plan(t.Context(), &both); !errors.As(err, &why) || why.Field != "weights" {
		t.Errorf("both: %v", err)
	}
	for field, weights := range map[string][][]float64{
		"weights":    {{}, {1, 2}},
		"weights[0]": {{math.NaN()}, {math.Inf(1)}, {-1}},
	} {
		for _, some := range weights {
			o := FeedOptions{BatchSize: 4, Order: "bootstrap", Weights: some}
			_, err := NewFeed[float32](t.Context(), w, o)
			_, planned := w.Plan(t.Context(), &o)
			for _, err := range []error{err, planned} {
				var why *Error
				if !errors.As(err, &why) || why.Type != InvalidSpec || why.Field != field {
					t.Errorf("%v: %v, want one of field %q", some, err, field)
				}
			}
		}
	}
}
