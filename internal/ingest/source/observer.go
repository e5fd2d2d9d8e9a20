package source

import "github.com/tensorcache/tensorcache/internal/ingest/column"

// ObserverCache is what a goroutine shows its values to, from chunk to chunk of a column.
type ObserverCache struct {
	observer column.Observer
	worker   column.WorkerObserver
}

// Observe shows values of a target to its observer, if it has one, from a row of its dest on.
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

// Invalidate says that values of a target may not be stored as its observer saw them.
func (t Target) Invalidate() {
	if t.Observer != nil {
		t.Observer.Invalidate()
	}
}
