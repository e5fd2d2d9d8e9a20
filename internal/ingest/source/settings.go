package source

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// Settings are the settings of a reader.
type Settings struct {
	AllowedRoots files.AllowedRoots // the directories from which files may be read
	Staged       *files.Staged      // the staged files among the sources; may be nil
	Workers      int                // number of goroutines that decode
	// BlockBytes is the number of bytes that a worker reads at once, of a text or TFRecord file.
	BlockBytes int64
	Text       textvalue.Dialect
	files.Decompression
}
