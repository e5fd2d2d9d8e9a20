package column

// Observer sees the values of a column as they are decoded, while they are in the processor's cache. It
// is safe for concurrent use.
type Observer interface {
	// Worker returns the observer of one goroutine.
	Worker() WorkerObserver
	// Invalidate says that values may not be stored as they were seen.
	Invalidate()
}

// WorkerObserver sees the values that one goroutine decodes, from a row of the result on. A call takes
// many values at once, so that its cost does not count.
type WorkerObserver interface {
	Float64s(row int64, values []float64)
	Float32s(row int64, values []float32)
}
