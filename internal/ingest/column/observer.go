package column

// Observer receives the values of a column as they are decoded, while they are in the processor's
// cache. It is safe for concurrent use.
type Observer interface {
	// Worker returns the observer of one goroutine.
	Worker() WorkerObserver
	// Invalidate records that the column may store other values than were passed to workers.
	Invalidate()
}

// WorkerObserver receives the values that one goroutine decodes, from a row of the result on, many
// at a time.
type WorkerObserver interface {
	Float64s(row int64, values []float64)
	Float32s(row int64, values []float32)
}
