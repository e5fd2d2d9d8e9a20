package parallel

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestEveryTaskRunsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(0, 50).Draw(t, "tasks"),
			rapid.IntRange(1, 8).Draw(t, "workers")
		ran := make([]atomic.Int64, n)
		err := For(context.Background(), workers, n, "", func(worker, i int) error {
			if worker < 0 || worker >= workers {
				t.Errorf("worker %d of %d", worker, workers)
			}
			ran[i].Add(1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range ran {
			if times := ran[i].Load(); times != 1 {
				t.Errorf("task %d ran %d times", i, times)
			}
		}
	})
}

func TestTheErrorIsThatOfTheLowestFailingTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(1, 50).Draw(t, "tasks"),
			rapid.IntRange(1, 8).Draw(t, "workers")
		fails := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "fails")
		errs := make([]error, n)
		var want error
		for i := n - 1; i >= 0; i-- {
			if fails[i] {
				errs[i] = errors.New("task failed")
				want = errs[i]
			}
		}
		ended := make([]atomic.Int64, workers)
		var next atomic.Int64
		inOrder := func(int, int) int { return int(next.Add(1) - 1) }
		got := ForBy(context.Background(), workers, n, "", inOrder,
			func(_, i int) error { return errs[i] }, func(worker int) { ended[worker].Add(1) })
		if got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		for worker := range min(workers, n) {
			if times := ended[worker].Load(); times != 1 {
				t.Errorf("worker %d ended %d times", worker, times)
			}
		}
	})
}

func TestACanceledContextStartsNoTask(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := For(ctx, 2, 5, "", func(int, int) error {
		t.Error("a task ran")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAPanicOfATaskNamesTheSource(t *testing.T) {
	err := For(context.Background(), 2, 3, "x.parquet", func(_, i int) error {
		if i == 1 {
			panic("index out of range")
		}
		return nil
	})
	var source *loaderr.SourceError
	if !errors.As(err, &source) || source.Path != "x.parquet" || source.Hint == "" {
		t.Fatalf("got %v", err)
	}
	if strings.Contains(err.Error()+source.Hint, "out of range") ||
		!strings.HasPrefix(source.Panic, "index out of range\n") ||
		!strings.Contains(source.Panic, "parallel_test.go") {
		t.Errorf("the message is %q, the text for the log %q", err, source.Panic)
	}
}
