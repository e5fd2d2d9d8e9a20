package ingest

import "github.com/tensorcache/tensorcache/internal/ingest/files"

// work is how a reader goes about it.
type work struct {
	reach   files.Reach
	workers int
	block   int64 // bytes of text that a worker reads at once
	text    dialect
	files.Decompression
}
