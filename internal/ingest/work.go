package ingest

// work is how a reader goes about it.
type work struct {
	reach   Reach
	workers int
	block   int64 // bytes of text that a worker reads at once
	text    dialect
	unpacking
}
