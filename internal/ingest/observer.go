package ingest

import "github.com/tensorcache/tensorcache/internal/ingest/column"

// observer sees the values of a column as they are decoded, while they are in the processor's cache.
// It is safe for concurrent use.
type observer interface {
	// worker returns the observer of one goroutine.
	worker() workerObserver
	// invalidate says that values may not be stored as they were seen.
	invalidate()
}

// workerObserver sees the values that one goroutine decodes, from a row of the target's dest on. A
// call takes many values at once, so that its cost does not count.
type workerObserver interface {
	float64s(row int64, values []float64)
	float32s(row int64, values []float32)
}

// observing is what a goroutine shows its values to, from chunk to chunk of a column.
type observing struct {
	of     observer
	worker workerObserver
}

// observe shows values of a target to its observer, if it has one, from a row of its dest on.
func observe[S column.Storable](o *observing, t target, row int64, values []S) {
	if t.observer == nil {
		return
	}
	if o.of != t.observer {
		o.of, o.worker = t.observer, t.observer.worker()
	}
	switch v := any(values).(type) {
	case []float64:
		o.worker.float64s(row, v)
	case []float32:
		o.worker.float32s(row, v)
	}
}

// invalidate says that values of a target may not be stored as its observer saw them.
func (t target) invalidate() {
	if t.observer != nil {
		t.observer.invalidate()
	}
}
