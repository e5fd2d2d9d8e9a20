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
	// Found receives what the reader of each text file finds out about its dialect; may be nil.
	Found func(textvalue.Found)
	// IsNamed reports whether the options, or the dataset that rows are appended to, name a column:
	// readers load levels of an index that they otherwise leave out. HasNumbers reports whether the
	// options let a column be one of numbers. Readers of text files find their dialect with both.
	IsNamed, HasNumbers func(column string) bool
	// HasTime reports whether the options, or the dataset that rows are appended to, name a time column.
	HasTime bool
	files.Decompression
}
