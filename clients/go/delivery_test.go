package tensorcache

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// isWithin reports whether values are a part of a column's memory.
func isWithin[T Value](values, column []T) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(column)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(values)))
	return at >= from && at < from+uintptr(len(column))*unsafe.Sizeof(column[0])
}

func TestViewsAreSlicesOfTheFile(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 100,
		window.Spec{ContextLength: 4, PredictionLength: 2, Stride: 3,
			Gap: 1, Overlap: 1})
	column := must(Column[float32](w.Dataset(), "v"))(t)
	f := newTestFeed(t, w, FeedOptions{BatchSize: 10, Order: "random_start", Delivery: DeliverView})
	n := 0
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !isWithin(b.Context.Data, column) || !isWithin(b.Target.Data, column) ||
			b.Context.Step != 3 {
			t.Fatalf("batch %d is a copy", n)
		}
		own := b.Copy()
		for i, start := range b.Start {
			if c, p := b.Context.Window(i), b.Target.Window(i); c[0] != float32(start) ||
				len(c) != 4 || p[0] != float32(start+4) || len(p) != 3 || cap(p) != 3 {
				t.Errorf("window at %d: %v, %v", start, c, p)
			}
			if !slices.Equal(own.Context.Data[4*i:4*i+4], b.Context.Window(i)) ||
				isWithin(own.Target.Data, column) {
				t.Errorf("the copy of the window at %d: %v", start, own.Context.Window(i))
			}
			n++
		}
		undone := must(Inverse(w.Dataset(), []string{"v"}, b.Context, InverseOptions{}))(t)
		if undone.Data[len(undone.Data)-1] != float64(b.Start[b.Len()-1]+3) {
			t.Error(undone)
		}
	}
	if n == 0 || must(f.Stats(t.Context()))(t).Path != "view" {
		t.Errorf("%d windows", n)
	}
}

func TestImpossibleViewsAreRefusedAndAutoUsesSlots(t *testing.T) {
	c, values := sharedDaemon(t), make([]float32, 90)
	columns := []PutColumn{Values("a", values), Values("b", values), Values("c", values),
		Values("n", make([]int32, 90))}
	for layout, cases := range map[string]map[string]struct {
		spec window.Spec
		o    FeedOptions
	}{
		"packed": {
			"": {window.Spec{ContextLength: 4, Columns: []string{"a", "b", "c"}}, FeedOptions{}},
			"delivery: no view is possible: the 2 columns of the context are not whole rows of the file": {window.Spec{ContextLength: 4, Columns: []string{"a", "b"}}, FeedOptions{}},
			"delivery: no view is possible: channels_first turns the 3 columns of the context around":    {window.Spec{ContextLength: 4, Columns: []string{"a", "b", "c"}}, FeedOptions{ChannelsFirst: true}},
			"delivery: no view is possible: dilation 2 leaves out rows between those of a window":        {window.Spec{ContextLength: 4, Columns: []string{"a", "b", "c"}, Dilation: 2}, FeedOptions{}},
		},
		"columns": {
			"": {window.Spec{ContextLength: 4, Columns: []string{"b"}, KnownColumns: []string{"c"}},
				FeedOptions{ChannelsFirst: true}},
			"delivery: no view is possible: the 3 columns of the context are not whole rows of the file":                 {window.Spec{ContextLength: 4, Columns: []string{"a", "b", "c"}}, FeedOptions{}},
			`delivery: no view is possible: column "n" is stored as int32 and asked for as float32`:                      {window.Spec{ContextLength: 4, Columns: []string{"n"}}, FeedOptions{}},
			`delivery: no view is possible: order "shuffle" scatters windows, views need "sequential" or "random_start"`: {window.Spec{ContextLength: 4, Columns: []string{"a"}}, FeedOptions{Order: "shuffle"}},
			`delivery: got "views", want auto, slot, view, local or starts`:                                              {window.Spec{ContextLength: 4, Columns: []string{"a"}}, FeedOptions{Delivery: "views"}},
		},
	} {
		d := must(c.Put(t.Context(), "layouts", columns, LoadOptions{Layout: layout}))(t)
		defer d.Close()
		for says, one := range cases {
			w := must(d.Windows(t.Context(), one.spec))(t)
			one.o.BatchSize = 8
			if one.o.Delivery == "" {
				auto := one.o
				auto.Delivery = DeliverAuto
				if got, views := newTestFeed(t, w, auto).Delivery(),
					says == ""; (got == DeliverView) != views || (got == DeliverSlot) == views {
					t.Errorf("auto uses %s, the error of a view is %q", got, says)
				}
				one.o.Delivery = DeliverView
			}
			f, err := NewFeed[float32](t.Context(), w, one.o)
			var e *Error
			if says == "" && err != nil || says != "" && (!errors.As(err, &e) || e.Detail != says ||
				e.Type != InvalidSpec || e.Field != "delivery") {
				t.Errorf("got %v, want %q", err, says)
			}
			if err == nil {
				defer f.Close()
			}
		}
	}
}

func TestLocalBatchesReuseMemoryOfReleasedBatches(t *testing.T) {
	f := newTestFeed(t, rampWindows(t, sharedDaemon(t), 400, window.Spec{}),
		FeedOptions{Order: "shuffle", BatchSize: 5, Slots: 3, Delivery: DeliverLocal})
	blocks := map[*float32]int{}
	var kept []*Batch[float32]
	var firsts []float32
	var releases []func()
	n := 0
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i, start := range b.Start {
			if c, p := b.Context.Window(i), b.Target.Window(i); c[0] != float32(start) ||
				p[1] != float32(start+5) {
				t.Fatalf("window at %d: %v, %v", start, c, p)
			}
		}
		blocks[&b.Context.Data[0]]++
		if n%16 == 3 {
			kept, firsts, releases = append(kept, b), append(firsts, b.Context.Data[0]),
				append(releases, b.Hold())
		}
		n++
	}
	if most := len(kept) + 1; len(blocks) > most {
		t.Errorf("%d blocks for %d batches, want %d", len(blocks), n, most)
	}
	for i, b := range kept {
		if b.Context.Data[0] != firsts[i] || b.Len() != 5 {
			t.Errorf("batch %d was overwritten: %v", i, b.Context.Data)
		}
		b.Context.Data[0] = -1 // a local batch is writable
		releases[i]()
	}
	if stats := must(f.Stats(t.Context()))(t); stats.Held != 0 || stats.Path != "" {
		t.Errorf("%+v", stats)
	}
}

func TestFeedsContinueAfterTheirDatasetIsClosed(t *testing.T) {
	c := sharedDaemon(t) // which checks that no map is left
	for _, delivery := range []string{DeliverView, DeliverLocal, DeliverStarts} {
		w := rampWindows(t, c, 60, window.Spec{})
		f := newTestFeed(t, w, FeedOptions{BatchSize: 6, Delivery: delivery})
		var held *Batch[float32]
		var release func()
		n := 0
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				// in the loop's body, so Close must not wait for the feed
				if err := w.Dataset().Close(); err != nil {
					t.Fatal(err)
				}
			}
			if n == 4 {
				held, release = b, b.Hold()
			}
			n++
		}
		if n != 10 {
			t.Errorf("%s: %d batches", delivery, n)
		}
		if _, err := Column[float32](w.Dataset(), "v"); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", delivery, err)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if held.Start[5] != 29 || delivery != DeliverStarts && held.Context.Window(5)[3] != 32 {
			t.Errorf("%s: %+v", delivery, held)
		}
		release()
		if _, err := NewFeed[float32](t.Context(), w,
			FeedOptions{BatchSize: 6, Delivery: DeliverLocal}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestEveryDeliveryResumesAndEndsWithItsContext(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 300, window.Spec{})
	for _, delivery := range []string{DeliverView, DeliverLocal, DeliverStarts} {
		o := FeedOptions{BatchSize: 7, Order: "random_start", Seed: 2, Delivery: delivery}
		f := newTestFeed(t, w, o)
		var whole [][]int64
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			whole = append(whole, slices.Clone(b.Start))
		}
		f.SetEpoch(0)
		ctx, cancel := context.WithCancel(t.Context())
		var got [][]int64
		for b, err := range f.Epoch(ctx) {
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				break
			}
			if got = append(got, slices.Clone(b.Start)); len(got) == 3 {
				cancel()
			}
		}
		cancel()
		resumed := newTestFeed(t, w, o)
		if err := resumed.LoadState(f.State()); err != nil {
			t.Fatal(err)
		}
		for b, err := range resumed.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(b.Start))
		}
		if !slices.EqualFunc(got, whole, slices.Equal[[]int64]) {
			t.Errorf("%s: %v, want %v", delivery, got, whole)
		}
	}
}

func TestCloseEndsAPassOfAnyDelivery(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 2000, window.Spec{})
	for _, delivery := range []string{DeliverSlot, DeliverView, DeliverLocal, DeliverStarts} {
		for rounds := range 10 {
			f := newTestFeed(t, w, FeedOptions{BatchSize: 1, Slots: 3, Delivery: delivery})
			var closing sync.WaitGroup
			n, end := 0, error(nil)
			for b, err := range f.Epoch(t.Context()) {
				if end = err; err != nil {
					break
				}
				if n += b.Len(); n == 1+rounds {
					closing.Go(func() {
						if err := f.Close(); err != nil {
							t.Error(err)
						}
					})
				}
			}
			closing.Wait()
			if !errors.Is(end, ErrClosed) && n < 1995 {
				t.Errorf("%s: %d batches, then %v", delivery, n, end)
			}
		}
	}
}

func TestLocalDeliveryChecksTheType(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 50, window.Spec{})
	if _, err := NewFeed[float64](t.Context(), w,
		FeedOptions{BatchSize: 4, Delivery: DeliverLocal}); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	f := must(NewFeed[int8](t.Context(), w, FeedOptions{BatchSize: 4, Delivery: DeliverStarts}))(t)
	defer f.Close()
	for b, err := range f.Epoch(t.Context()) {
		if err != nil || b.Context.Data != nil || b.Rows()[3] != b.Start[3] {
			t.Fatal(b, err)
		}
		break
	}
}

func TestAClosedRingMakesNoBatch(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 50, window.Spec{})
	for _, delivery := range []string{DeliverSlot, DeliverView, DeliverLocal, DeliverStarts} {
		f := newTestFeed(t, w, FeedOptions{BatchSize: 4, Delivery: delivery})
		s := f.stream
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		for _, flags := range []uint32{0, wire.FlagRun} {
			if b, err := f.makeBatch(s, wire.Descriptor{Rows: 4, Flags: flags}); !errors.Is(
				err, ErrClosed) {
				t.Errorf("%s: %v, %v", delivery, b, err)
			}
		}
	}
}

func TestMissingStaticValuesAreReplacedInEveryDelivery(t *testing.T) {
	values, missing := make([]float32, 30), make([]float32, 30)
	for i := range missing {
		missing[i] = float32(math.NaN())
	}
	data := must(sharedDaemon(t).Put(t.Context(), "static", []PutColumn{Values("v", values),
		Values("s", missing)}, LoadOptions{}))(t)
	defer data.Close()
	replacement := 7.0
	w := must(data.Windows(t.Context(), window.Spec{ContextLength: 4, Columns: []string{"v"},
		StaticColumns: []string{"s"}, MissingValue: &replacement}))(t)
	for _, delivery := range []string{DeliverSlot, DeliverLocal, DeliverView} {
		f := newTestFeed(t, w, FeedOptions{BatchSize: 10, Delivery: delivery})
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(b.Static.Data, func(v float32) bool { return v != 7 }) {
				t.Errorf("%s: static values %v, want 7", delivery, b.Static.Data)
			}
		}
	}
}
