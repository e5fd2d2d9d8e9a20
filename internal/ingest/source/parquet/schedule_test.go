package parquet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
)

func TestEveryChunkIsScheduledOnceAndWorkersContinueTheirColumn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		groups, columns, workers := rapid.IntRange(1, 9).Draw(r, "groups"),
			rapid.IntRange(1, 6).Draw(r, "columns"), rapid.IntRange(1, 4).Draw(r, "workers")
		order := newChunkSchedule(groupSizes(r, groups), columns, workers)
		runs, owner := slices.Clone(order.runs), map[int]int{}
		runOf := func(chunk int) int {
			return slices.IndexFunc(runs, func(c chunkRun) bool {
				return c.column == chunk%columns && c.group <= chunk/columns &&
					chunk/columns < c.end
			})
		}
		below := groups * columns
		var given []int
		last, open := make([]int, workers), workers
		for i := range last {
			last[i] = -1
		}
		for open > 0 {
			w := rapid.IntRange(0, workers-1).Draw(r, "worker")
			if last[w] == -2 {
				continue
			}
			if len(given) > 0 && rapid.IntRange(0, 20).Draw(r, "fails") == 0 {
				below = min(below, given[rapid.IntRange(0, len(given)-1).Draw(r, "chunk")])
			}
			i := order.next(w, below)
			if i >= below {
				last[w] = -2
				open--
				continue
			}
			if before := last[w]; before >= 0 && owner[runOf(before)] == w {
				if next := before + columns; i != next && next < below &&
					runOf(next) == runOf(before) && !slices.Contains(given, next) {
					r.Fatalf("worker %d took chunk %d after %d, and no worker %d", w, i,
						before, next)
				}
			}
			if _, found := owner[runOf(i)]; !found {
				owner[runOf(i)] = w
			}
			given, last[w] = append(given, i), i
		}
		slices.Sort(given)
		for i := range below {
			if _, found := slices.BinarySearch(given, i); !found {
				r.Errorf("no worker took chunk %d", i)
			}
		}
		if n := len(given); len(slices.Compact(given)) != n {
			r.Errorf("a chunk was taken twice: %v", given)
		}
	})
}

// groupSizes draws the sizes of row groups in bytes. A few of them fill a section.
func groupSizes(r *rapid.T, groups int) []int64 {
	return rapid.SliceOfN(rapid.Int64Range(0, sectionBytes/2), groups, groups).Draw(r, "bytes")
}

func TestTheErrorOfTheLowestTaskIsReturnedInAnyOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		groups, columns, workers := rapid.IntRange(1, 9).Draw(r, "groups"),
			rapid.IntRange(1, 6).Draw(r, "columns"), rapid.IntRange(1, 4).Draw(r, "workers")
		bad := rapid.SliceOfNDistinct(rapid.IntRange(0, groups*columns-1), 0, 3, rapid.ID).
			Draw(r, "bad")
		order := newChunkSchedule(groupSizes(r, groups), columns, workers)
		var mu sync.Mutex
		done, ended := map[int]bool{}, 0
		err := parallel.ForBy(context.Background(), workers, groups*columns, "", order.next,
			func(_, i int) error {
				mu.Lock()
				defer mu.Unlock()
				done[i] = true
				if slices.Contains(bad, i) {
					return fmt.Errorf("task %d", i)
				}
				return nil
			}, func(int) {
				mu.Lock()
				defer mu.Unlock()
				ended++
			})
		if ended != min(workers, groups*columns) {
			r.Errorf("%d workers ended", ended)
		}
		if len(bad) == 0 {
			if err != nil || len(done) != groups*columns {
				r.Errorf("%d tasks done, %v", len(done), err)
			}
			return
		}
		if want := fmt.Sprintf("task %d", slices.Min(bad)); err == nil || err.Error() != want {
			r.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestAWorkerThatPanicsAtItsEndIsAnError(t *testing.T) {
	order := newChunkSchedule([]int64{1}, 1, 1)
	err := parallel.ForBy(context.Background(), 1, 1, "x.parquet", order.next,
		func(int, int) error { return nil }, func(int) { panic("no more") })
	if e := (*loaderr.SourceError)(nil); !errors.As(err, &e) || e.Path != "x.parquet" {
		t.Errorf("got %v", err)
	}
}
