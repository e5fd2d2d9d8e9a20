package ingest

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// reader reads one source of one format.
type reader interface {
	// path names the source in messages.
	path() string
	// names are those of all columns, in the source's order.
	names() []string
	// rows counts the rows.
	rows() int64
	// describe says what the wanted columns hold, in the order asked for.
	describe(w []column.Want) ([]column.Column, error)
	// fill writes every row of the targets and tells the meter. A column that turns out to hold something wider is a [widenError].
	fill(ctx context.Context, to []target, m *progress.Meter) error
	// line is the line of the file that a row (from 0) stands in, 0 where there are no lines.
	line(row int64) int64
	close() error
}
