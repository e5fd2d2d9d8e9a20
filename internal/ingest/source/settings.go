package source

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// Settings is how a reader goes about it.
type Settings struct {
	Reach      files.Reach
	Workers    int
	BlockBytes int64 // bytes of text that a worker reads at once
	Text       textvalue.Dialect
	files.Decompression
}
