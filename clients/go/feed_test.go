package tensorcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/window"
)

// rampWindows stores a dataset of one series whose values are the row numbers, and returns its
// windows: of 4 context and 2 target rows, unless spec has others.
func rampWindows(t *testing.T, c *Cache, rows int, spec window.Spec) *Windows {
	t.Helper()
	values := make([]float32, rows)
	for i := range values {
		values[i] = float32(i)
	}
	d := must(c.Put(t.Context(), "ramp", []PutColumn{Values("v", values)}, LoadOptions{}))(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if spec.ContextLength == 0 {
		spec.ContextLength, spec.PredictionLength = 4, 2
	}
	return must(d.Windows(t.Context(), spec))(t)
}

func newTestFeed(t *testing.T, w *Windows, o FeedOptions) *Feed[float32] {
	t.Helper()
	if o.BatchSize == 0 {
		o.BatchSize = 8
	}
	f := must(NewFeed[float32](t.Context(), w, o))(t)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// collectStarts checks the batches that are left of an epoch, at most max unless that is 0, and
// returns the starts of their windows.
func collectStarts(t *testing.T, ctx context.Context, f *Feed[float32],
	max int) (out [][]int64, err error) {
	t.Helper()
	for b, err := range f.Epoch(ctx) {
		if err != nil {
			return out, err
		}
		checkRamp(t, b)
		if out = append(out, slices.Clone(b.Start)); len(out) == max {
			break
		}
	}
	return out, nil
}

// checkRamp checks the values of windows of rampWindows.
func checkRamp(t *testing.T, b *Batch[float32]) {
	t.Helper()
	for i, start := range b.Start {
		if c, p := b.Context.Window(i), b.Target.Window(i); c[0] != float32(start) ||
			c[3] != float32(start+3) || p[1] != float32(start+5) {
			t.Fatalf("window at %d: context %v, target %v", start, c, p)
		}
	}
}

func TestEachPassIsTheNextEpoch(t *testing.T) {
	f := newTestFeed(t, rampWindows(t, sharedDaemon(t), 100, window.Spec{}),
		FeedOptions{Order: "shuffle", Seed: 3})
	var epochs [][][]int64
	for range 3 {
		got := must(collectStarts(t, t.Context(), f, 0))(t)
		if int64(len(got)) != f.Len() || len(got[len(got)-1]) != 95%8 {
			t.Errorf("%d batches, the last of %d windows", len(got), len(got[len(got)-1]))
		}
		all := slices.Concat(got...)
		slices.Sort(all)
		for i, start := range all {
			if start != int64(i) {
				t.Fatalf("windows %v", all)
			}
		}
		epochs = append(epochs, got)
	}
	f.SetEpoch(1)
	if got := must(collectStarts(t, t.Context(), f, 0))(t); !slices.EqualFunc(got, epochs[1],
		slices.Equal[[]int64]) {
		t.Errorf("epoch 1 again: %v, want %v", got, epochs[1])
	}
	if slices.Equal(epochs[0][0], epochs[1][0]) {
		t.Error("two epochs begin alike")
	}
}

func TestStateResumesAtTheNextBatchInAnyFeed(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 100, window.Spec{})
	o := FeedOptions{Order: "shuffle", Seed: 3, Slots: 3}
	f := newTestFeed(t, w, o)
	whole := must(collectStarts(t, t.Context(), f, 0))(t)
	for _, cut := range []int{1, 5, len(whole) - 1} {
		f := newTestFeed(t, w, o)
		if got := must(collectStarts(t, t.Context(), f, cut))(t); !slices.EqualFunc(
			got, whole[:cut],
			slices.Equal[[]int64]) {
			t.Fatalf("%v", got)
		}
		kept := must(json.Marshal(f.State()))(t)
		next := must(collectStarts(t, t.Context(), f, 1))(t) // the pass before counts as an epoch
		var state Cursor
		if err := json.Unmarshal(kept, &state); err != nil {
			t.Fatal(err)
		}
		for _, resumed := range []*Feed[float32]{f, newTestFeed(t, w, o)} {
			if err := resumed.LoadState(state); err != nil {
				t.Fatal(err)
			}
			if got := must(collectStarts(t, t.Context(), resumed, 0))(t); !slices.EqualFunc(got,
				whole[cut:], slices.Equal[[]int64]) {
				t.Errorf("after %d batches: %v, want %v", cut, got, whole[cut:])
			}
			if got := must(collectStarts(t, t.Context(), resumed, 1))(t); !slices.EqualFunc(got,
				next,
				slices.Equal[[]int64]) {
				t.Errorf("the epoch after: %v, want %v", got, next)
			}
		}
	}
	other := newTestFeed(t, w, FeedOptions{Order: "shuffle", Seed: 4})
	if err := other.LoadState(f.State()); !errors.Is(err, CursorMismatch) {
		t.Error(err)
	}
}

func TestABatchIsValidInTheLoopsBodyUnlessItIsHeld(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 200, window.Spec{})
	f := newTestFeed(t, w, FeedOptions{Slots: 3, BatchSize: 10})
	var all []*Batch[float32]
	var releases []func()
	var own *Batch[float32]
	n := 0
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			own = b.Copy()
		}
		if n%2 == 0 { // more than there are slots, so most are copies
			releases = append(releases, b.Hold())
			all = append(all, b)
		} else {
			all = append(all, nil)
		}
		n++
	}
	stats := must(f.Stats(t.Context()))(t)
	if stats.Held != 2 || stats.Copied == 0 || stats.Batches != 20 || stats.Slots != 3 {
		t.Errorf("%+v", stats)
	}
	if err := f.Close(); err != nil { // held batches stay valid
		t.Error(err)
	}
	for i, b := range all {
		if b != nil && (b.Len() != len(b.Start) || b.Context.Window(0)[0] != float32(10*i)) {
			t.Errorf("batch %d: %v", i, b.Start)
		}
	}
	for _, release := range releases {
		release()
		release()
	}
	if all[0].Context.Data != nil || all[0].Len() != 0 {
		t.Error("a released batch still has memory of the ring")
	}
	if own.Context.Window(9)[3] != 12 || own.Len() != 10 {
		t.Errorf("%+v", own)
	}
	var after *Batch[float32]
	for b := range newTestFeed(t, w, FeedOptions{}).Epoch(t.Context()) {
		after = b
		break
	}
	if after.Context.Data != nil || after.ItemCode != nil {
		t.Error("a batch outlives its loop")
	}
}

func TestOtherGoroutinesHoldBatches(t *testing.T) {
	const rows = 3000
	f := newTestFeed(t, rampWindows(t, sharedDaemon(t), rows, window.Spec{}),
		FeedOptions{Slots: 4, Order: "shuffle"})
	var workers sync.WaitGroup
	var sum atomic.Int64
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		release := b.Hold()
		workers.Go(func() {
			defer release()
			for i := range b.Len() {
				sum.Add(int64(b.Context.Window(i)[0]))
			}
		})
	}
	workers.Wait()
	if n := int64(rows - 5); sum.Load() != n*(n-1)/2 {
		t.Errorf("the windows' first values sum up to %d, want %d", sum.Load(), n*(n-1)/2)
	}
	if stats := must(f.Stats(t.Context()))(t); stats.Held != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestAContextEndsTheWaitAndTheFeedStaysUsable(t *testing.T) {
	c := newDaemon(t)
	// an epoch must take longer than the signal
	w := rampWindows(t, c, 1_000_000, window.Spec{})
	f := newTestFeed(t, w, FeedOptions{Slots: 3, BatchSize: 1})
	whole := must(collectStarts(t, t.Context(), f, 6))(t)
	f.SetEpoch(0)
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := collectStarts(t, ctx, f, 2); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	state := f.State()
	cancel()
	if _, err := collectStarts(t, ctx, f, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	// The context also ends the wait for a suspended daemon.
	signalProcess(t, c.control.Daemon.PID, syscall.SIGSTOP)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range 3 {
		if err := f.LoadState(state); err != nil {
			t.Fatal(err)
		}
		if _, err := collectStarts(t, short, f, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want context.DeadlineExceeded", err)
		}
	}
	signalProcess(t, c.control.Daemon.PID, syscall.SIGCONT)
	if err := f.LoadState(state); err != nil {
		t.Fatal(err)
	}
	if got := must(collectStarts(t, t.Context(), f, 4))(t); !slices.EqualFunc(got, whole[2:],
		slices.Equal[[]int64]) {
		t.Errorf("%v, want %v", got, whole[2:])
	}
}

func signalProcess(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}

func TestADeadDaemonIsAnErrorAndTheFeedResumesAtTheNextOne(t *testing.T) {
	for _, delivery := range []string{DeliverSlot, DeliverLocal, DeliverView} {
		t.Run(delivery, func(t *testing.T) {
			checkResumeAfterKill(t, FeedOptions{Order: "random_start", Seed: 1, Slots: 3,
				Delivery: delivery})
		})
	}
}

func checkResumeAfterKill(t *testing.T, o FeedOptions) {
	c := newDaemon(t)
	w := rampWindows(t, c, 1000, window.Spec{})
	whole := must(collectStarts(t, t.Context(), newTestFeed(t, w, o), 0))(t)
	f := newTestFeed(t, w, o)
	var got [][]int64
	var end error
	for b, err := range f.Epoch(t.Context()) {
		if end = err; err != nil {
			break
		}
		if got = append(got, slices.Clone(b.Start)); len(got) == 5 {
			signalProcess(t, c.control.Daemon.PID, syscall.SIGKILL)
		}
	}
	if !errors.Is(end, ErrGone) {
		t.Fatalf("got %v, want ErrGone", end)
	}
	if at := fmt.Sprintf("after %d batches: ", len(got)); !strings.Contains(end.Error(), at) {
		t.Errorf("got %q, which does not say %q", end, at)
	}
	if _, err := collectStarts(t, t.Context(), f, 1); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	again := must(Connect(t.Context(), Options{Dir: c.Dir()}))(t)
	t.Cleanup(func() { _ = stop(again) })
	got = append(got, must(collectStarts(t, t.Context(), f, 0))(t)...)
	if !slices.EqualFunc(got, whole, slices.Equal[[]int64]) {
		t.Errorf("%d batches, then %d in all, want %d", 5, len(got), len(whole))
	}
}

func TestANewPassOrCloseEndsThePass(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 100, window.Spec{})
	f := newTestFeed(t, w, FeedOptions{})
	for _, err := range f.Epoch(t.Context()) {
		if err != nil {
			if !errors.Is(err, ErrPassOver) {
				t.Errorf("got %v, want ErrPassOver", err)
			}
			break
		}
		must(collectStarts(t, t.Context(), f, 1))(t)
	}
	closed := make(chan error, 1)
	n := 0
	for _, err := range f.Epoch(t.Context()) {
		if n++; err != nil {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
			break
		}
		go func() { closed <- f.Close() }()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d turns after the close", n-1)
	}
	if _, err := collectStarts(t, t.Context(), f, 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestFeedsCheckTheirType(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 100, window.Spec{})
	if _, err := NewFeed[float64](t.Context(), w, FeedOptions{BatchSize: 4}); !errors.Is(
		err, ErrType) {
		t.Error(err)
	}
	if _, err := At[int64](t.Context(), w, 0); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	double := must(
		w.Dataset().Windows(t.Context(), window.Spec{ContextLength: 4, DType: "float64"}))(t)
	f := must(NewFeed[float64](t.Context(), double, FeedOptions{BatchSize: 4}))(t)
	defer f.Close()
	for b, err := range f.Epoch(t.Context()) {
		if err != nil || b.Context.Window(0)[1] != float64(b.Start[0]+1) || b.Target.Data != nil {
			t.Fatal(b, err)
		}
	}
}

func TestStatsHaveTheWaitingOfBothSides(t *testing.T) {
	f := newTestFeed(t, rampWindows(t, sharedDaemon(t), 1000, window.Spec{}), FeedOptions{Slots: 3})
	must(collectStarts(t, t.Context(), f, 0))(t)
	stats := must(f.Stats(t.Context()))(t)
	if stats.Batches != f.Len() || stats.Pass <= 0 || stats.WaitData <= 0 ||
		stats.WaitData > stats.Pass || stats.Path != "memcpy" || stats.SlotBytes <= 0 {
		t.Errorf("%+v", stats)
	}
	testwait.Until(t, "the daemon knows what the trainer said", func() bool {
		return must(f.Stats(t.Context()))(t).Verdict != ""
	})
}
