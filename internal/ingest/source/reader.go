// Package source defines the interface between a load and the readers of its sources.
//
// It contains the [Reader] interface, the [Target] to which a reader writes a column, and two
// readers that wrap another reader: [Melt] and [WithPartitions]. Optional interfaces are
// [Selective], [Sized] and [RowGroupPruner]. The reader of each format is a subpackage. Readers do
// not depend on steps, on the order of rows or on load options.
//
// # Caveats
//
// Describe must be called before Rows and ReadRows: a reader of NumPy files does not know its
// number of rows until Describe.
//
// ReadRows may return a [WidenError]. The load then calls ReadRows again, with wider targets. Such
// a reader marks these columns as inferred, so that no filter skips the file.
//
// Errors need not name the path of the source; the load adds it.
//
// Rows count from 0, but in errors from 1.
package source

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// Reader reads one source of one format.
type Reader interface {
	// Path returns the path of the source, for messages.
	Path() string
	// Names returns the names of all columns, in the order of the source. Names may be equal.
	Names() []string
	// Rows returns the number of rows.
	Rows() int64
	// Describe returns the types of the wanted columns, in the order of w.
	Describe(w []column.Want) ([]column.Column, error)
	// ReadRows writes all rows of the targets and updates the meter. If values of a column need a
	// wider type than Describe returned, it returns a [WidenError].
	ReadRows(ctx context.Context, to []Target, m *progress.Meter) error
	// Line returns the line of a row (from 0) in the file, 0 if the format has no lines.
	Line(row int64) int64
	// Close releases the source.
	Close() error
}

// Lines is a reader of a text file whose first line names the columns.
type Lines interface {
	Reader
	// LineWith returns the line of the first row that has a cell with a text. It looks at the first
	// rows only.
	LineWith(text string) (line int64, ok bool)
}

// Sized is a reader of values from a connection that knows the total number of bytes.
type Sized interface {
	Reader
	// Size returns the number of bytes that ReadRows reads from the connection.
	Size() int64
}
