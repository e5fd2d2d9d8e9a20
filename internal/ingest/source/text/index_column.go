package text

import (
	"context"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// withoutIndex is a file whose first column is left out. It is the index of a pandas frame, or the
// row names of R, which both programs write unless they are told not to.
type withoutIndex struct{ *csvFile }

// Names returns the names of the other columns.
func (f withoutIndex) Names() []string { return f.header[1:] }

// Describe infers the types of the wanted columns.
func (f withoutIndex) Describe(w []column.Want) ([]column.Column, error) {
	w = slices.Clone(w)
	for i := range w {
		w[i].Index++
	}
	return f.csvFile.Describe(w)
}

// ReadRows parses the file.
func (f withoutIndex) ReadRows(
	ctx context.Context, to []source.Target, m *progress.Meter,
) error {
	to = slices.Clone(to)
	for i := range to {
		to[i].Index++
	}
	return f.csvFile.ReadRows(ctx, to, m)
}

// hasIndex reports whether the first column has no name, neither the options nor the dataset name it
// by its place, and its cells are whole numbers that rise by 1 from row to row. It looks at the rows
// in the first block, of which there are at most sampleRows.
func (c *csvFile) hasIndex() bool {
	if !c.unnamedFirst || len(c.header) < 2 {
		return false
	}
	name := c.header[0]
	if c.IsNamed != nil && c.IsNamed(name) && !slices.Contains(c.header[1:], name) {
		return false
	}
	buf := make([]byte, min(files.BlockBytes, c.Size-c.dataOffset))
	n, err := c.ReadAt(buf, c.dataOffset)
	if err != nil {
		return false // ReadRows reports it
	}
	buf = append(buf[:n], '\n')
	s := splitter{delim: c.delim, buf: buf}
	var cells []cell
	var before int64
	for row := range min(sampleRows, c.Rows()) {
		s.skipEmptyLines()
		if cells, err = s.nextRow(cells[:0]); err != nil || len(cells) != len(c.header) {
			return row > 0 // the row is longer than the block, or ReadRows reports it
		}
		v, ok := c.Text.Int(cells[0].trimmed())
		if !ok || row > 0 && v != before+1 {
			return false
		}
		before = v
	}
	return true
}
