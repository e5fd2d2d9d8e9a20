package source

import "github.com/tensorcache/tensorcache/internal/ingest/files"

// Settings is how a reader goes about it.
type Settings struct {
	Reach   files.Reach
	Workers int
	Block   int64 // bytes of text that a worker reads at once
	Text    Dialect
	files.Decompression
}
