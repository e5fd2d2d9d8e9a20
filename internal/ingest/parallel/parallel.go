// Package parallel runs the tasks of a load on several workers. A panic of a task becomes an error that
// names the source, and so does a page of a mapped file that cannot be read or written.
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

// For does tasks 0 to n-1 with some workers, handing them out in order. Of several errors it returns that of the
// lowest task, so that a message does not depend on the timing: after an error no task above is begun any more, and
// those before it have been.
func For(ctx context.Context, workers, n int, path string, task func(worker, i int) error) error {
	var next atomic.Int64
	inOrder := func(int, int) int { return int(next.Add(1) - 1) }
	return ForBy(ctx, workers, n, path, inOrder, task, func(int) {})
}

// ForBy is parallel in an order of its own: next gives a worker its next task, of those below a number; where there is none, anything that
// is not. A worker ends with end, also after an error.
func ForBy(ctx context.Context, workers, n int, path string, next func(worker, below int) int, task func(worker, i int) error, end func(worker int)) error {
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
				if i >= failed.Load() { // which has become less
					continue
				}
				if errs[i] = Guard(path, func() error { return task(worker, int(i)) }); errs[i] != nil {
					for f := failed.Load(); i < f && !failed.CompareAndSwap(f, i); f = failed.Load() {
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

// Guard turns a panic of a decoder into an error that names the source.
func Guard(path string, f func() error) (err error) {
	// A page of a file that cannot be written or read is a panic here instead of the end of the process.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err = mmapfile.Lost(p); err != nil {
			return
		}
		if e, ok := p.(interface {
			error
			Addr() uintptr // a fault of the memory
		}); ok {
			err = fmt.Errorf("%w: %w", ErrFault, e)
			return
		}
		err = &loaderr.SourceError{Path: path, Reason: fmt.Sprintf("cannot be decoded: %v", p), Hint: "the file is damaged"}
	}()
	return f()
}

// ErrFault is wrapped by the error of a page of memory that could not be read or written.
var ErrFault = errors.New("memory that maps a file failed")
