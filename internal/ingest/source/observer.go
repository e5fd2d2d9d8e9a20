package source

import "github.com/tensorcache/tensorcache/internal/ingest/column"

// observer sees the values of a column as they are decoded, while they are in the processor's cache.
// It is safe for concurrent use.
type observer interface {
	// Worker returns the observer of one goroutine.
	Worker() WorkerObserver
	// Invalidate says that values may not be stored as they were seen.
	Invalidate()
}

// WorkerObserver sees the values that one goroutine decodes, from a row of the target's dest on. A
// call takes many values at once, so that its cost does not count.
type WorkerObserver interface {
	Float64s(row int64, values []float64)
	Float32s(row int64, values []float32)
}

// Observing is what a goroutine shows its values to, from chunk to chunk of a column.
type Observing struct {
	of     observer
	worker WorkerObserver
}

// Observe shows values of a target to its observer, if it has one, from a row of its dest on.
func Observe[S column.Storable](o *Observing, t Target, row int64, values []S) {
	if t.Observer == nil {
		return
	}
	if o.of != t.Observer {
		o.of, o.worker = t.Observer, t.Observer.Worker()
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
