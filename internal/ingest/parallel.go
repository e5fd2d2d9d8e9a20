package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// parallel does tasks 0 to n-1 with some workers, handing them out in order. Of several errors it returns that of the
// lowest task, so that a message does not depend on the timing: after an error no task is handed out any more, and
// those before it have been.
func parallel(ctx context.Context, workers, n int, path string, task func(worker, i int) error) error {
	var next, failed atomic.Int64
	failed.Store(int64(n))
	errs := make([]error, n)
	var group sync.WaitGroup
	for worker := range min(workers, n) {
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= failed.Load() || ctx.Err() != nil {
					return
				}
				if errs[i] = guard(path, func() error { return task(worker, int(i)) }); errs[i] != nil {
					for f := failed.Load(); i < f && !failed.CompareAndSwap(f, i); f = failed.Load() {
					}
					return
				}
			}
		})
	}
	group.Wait()
	if i := failed.Load(); i < int64(n) {
		return errs[i]
	}
	return ctx.Err()
}

// guard turns a panic of a decoder into an error that names the source.
func guard(path string, f func() error) (err error) {
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
			err = fmt.Errorf("%w: %w", errFault, e)
			return
		}
		err = &SourceError{Path: path, Reason: fmt.Sprintf("cannot be decoded: %v", p), Hint: "the file is damaged"}
	}()
	return f()
}

// errFault is wrapped by the error of a page of memory that could not be read or written.
var errFault = errors.New("memory that maps a file failed")
