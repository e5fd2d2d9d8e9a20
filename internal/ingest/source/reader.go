// Package source defines what all readers of sources share: the [Reader] interface, the [Target] that a
// reader writes a column to, and readers around readers: [Melt] and [WithPartitions].
//
// A reader of one format is a package below this one. Readers know files and columns; they know nothing
// of steps, of the order of rows or of load options.
package source

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// Reader reads one source of one format.
type Reader interface {
	// Path names the source in messages.
	Path() string
	// Names are those of all columns, in the source's order.
	Names() []string
	// Rows counts the rows.
	Rows() int64
	// Describe says what the wanted columns hold, in the order asked for.
	Describe(w []column.Want) ([]column.Column, error)
	// Fill writes every row of the targets and tells the meter. A column that turns out to hold something wider is a [WidenError].
	Fill(ctx context.Context, to []Target, m *progress.Meter) error
	// Line is the line of the file that a row (from 0) stands in, 0 if there are no lines.
	Line(row int64) int64
	Close() error
}

// Sized is a reader that knows how many bytes it reads, of values that come over a connection.
type Sized interface {
	Reader
	Size() int64
}
