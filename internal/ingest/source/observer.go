package source

import "github.com/tensorcache/tensorcache/internal/ingest/column"

// ObserverCache caches the worker observer of one goroutine, so that consecutive chunks of a column
// use the same one. The zero value is an empty cache. It is not safe for concurrent use.
type ObserverCache struct {
	observer column.Observer
	worker   column.WorkerObserver
}

// Observe passes values of a target to its observer, if it has one. row is the row of the first
// value in the target's Dest. Only float64 and float32 values are observed.
func Observe[S column.Storable](o *ObserverCache, t Target, row int64, values []S) {
	if t.Observer == nil {
		return
	}
	if o.observer != t.Observer {
		o.observer, o.worker = t.Observer, t.Observer.Worker()
	}
	switch v := any(values).(type) {
	case []float64:
		o.worker.Float64s(row, v)
	case []float32:
		o.worker.Float32s(row, v)
	}
}

// Invalidate invalidates the target's observer, if it has one, because values may not be stored as
// the observer received them.
func (t Target) Invalidate() {
	if t.Observer != nil {
		t.Observer.Invalidate()
	}
}
