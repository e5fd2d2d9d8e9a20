// Package parallel runs the tasks of a load on several workers.
//
// [Guard] turns the panic of a task into an error that names the source. A page of a mapped file
// that cannot be read or written is such a panic too, instead of the end of the process.
package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// For runs tasks 0 to n-1 on some workers, in order. path is the source that errors name. If tasks
// fail, it returns the error of the lowest task, so that it does not depend on timing: after an
// error, workers start no later task, and all earlier tasks have started. It waits for all workers.
func For(ctx context.Context, workers, n int, path string, task func(worker, i int) error) error {
	var next atomic.Int64
	inOrder := func(int, int) int { return int(next.Add(1) - 1) }
	return ForBy(ctx, workers, n, path, inOrder, task, func(int) {})
}

// ForBy is [For] in another order. next returns the next task of a worker, which is less than
// below, or below if there is none. Each worker calls end last, also after an error.
func ForBy(
	ctx context.Context, workers, n int, path string,
	next func(worker, below int) int, task func(worker, i int) error, end func(worker int),
) error {
	workers = min(workers, n)
	var failed atomic.Int64
	failed.Store(int64(n))
	errs, ends := make([]error, n), make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				below := failed.Load()
				i := int64(next(worker, int(below)))
				if i >= below {
					break
				}
				if i >= failed.Load() { // an earlier task failed meanwhile
					continue
				}
				if errs[i] = Guard(path,
					func() error { return task(worker, int(i)) }); errs[i] != nil {
					for f := failed.Load(); i < f &&
						!failed.CompareAndSwap(f, i); f = failed.Load() {
					}
				}
			}
			ends[worker] = Guard(path, func() error { end(worker); return nil })
		})
	}
	group.Wait()
	if i := failed.Load(); i < int64(n) {
		return errs[i]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(ends...)
}

// Guard runs f and turns a panic into an error that names the source and has the text of the panic
// in its field Panic. The error of a page of memory
// wraps [ErrFault], or mmapfile.ErrLost for a file of a generation.
func Guard(path string, f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err = mmapfile.FaultError(p); err != nil {
			return
		}
		if e, ok := p.(interface {
			error
			Addr() uintptr // a runtime error of a memory fault has it
		}); ok {
			err = fmt.Errorf("%w: %w", ErrFault, e)
			return
		}
		err = &loaderr.SourceError{
			Path:   path,
			Reason: loaderr.ReasonPanic,
			Hint:   loaderr.HintPanic,
			Panic:  fmt.Sprintf("%v\n%s", p, debug.Stack()),
		}
	}()
	return f()
}

// ErrFault is wrapped by the error of a page of memory that could not be read or written.
var ErrFault = errors.New("memory that maps a file failed")
