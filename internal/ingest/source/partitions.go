package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// partitioned adds partition columns to the columns of a file. The names of the file's folders
// define them (key=value). Each has the same value in all rows.
type partitioned struct {
	Reader
	parts       []files.Partition
	fileColumns int  // number of columns of the file
	inferred    bool // cells of the file may widen a column that Describe returned
}

// WithPartitions returns a reader that adds a column for each part to the columns of r, or r itself
// if there are no parts. It returns an error if r has a column with the name of a part.
func WithPartitions(r Reader, parts []files.Partition) (Reader, error) {
	if len(parts) == 0 {
		return r, nil
	}
	for _, p := range parts {
		if slices.Contains(r.Names(), p.Key) {
			return nil, &loaderr.SourceError{
				Path: r.Path(), Column: p.Key,
				Reason: fmt.Sprintf("is in the file and in the name of its folder, %s=%s",
					p.Key, p.Value),
				Hint: "name the files instead of the folder",
			}
		}
	}
	return &partitioned{Reader: r, parts: parts, fileColumns: len(r.Names())}, nil
}

// Names returns the names of the file's columns, then those of the partition columns.
func (p *partitioned) Names() []string {
	out := slices.Clone(p.Reader.Names())
	for _, part := range p.parts {
		out = append(out, part.Key)
	}
	return out
}

// Describe returns the types of the wanted columns. A partition column is int64 if its value is
// written as an integer, text otherwise. Both are marked as inferred, so that the load unifies them
// to the widest type over all files.
func (p *partitioned) Describe(w []column.Want) ([]column.Column, error) {
	var fileWants []column.Want
	for _, x := range w {
		if x.Index < p.fileColumns {
			fileWants = append(fileWants, x)
		}
	}
	columns, err := p.Reader.Describe(fileWants)
	if err != nil {
		return nil, err
	}
	p.inferred = slices.ContainsFunc(columns, func(c column.Column) bool { return c.Inferred })
	return p.merge(columns, func(i int) (column.Column, bool) {
		if w[i].Index < p.fileColumns {
			return column.Column{}, false
		}
		part := p.parts[w[i].Index-p.fileColumns]
		c := column.Column{Name: part.Key, Kind: column.KindText, Inferred: true, Names: true}
		if _, ok := textvalue.ParseCanonical([]byte(part.Value)); ok {
			c.Kind = column.KindInt64
		}
		return c, true
	}, len(w)), nil
}

// merge returns n columns: partition(i), if its ok is true, and otherwise the next of the file's
// columns.
func (p *partitioned) merge(
	columns []column.Column, partition func(i int) (column.Column, bool), n int,
) []column.Column {
	out := make([]column.Column, n)
	for i := range out {
		c, ok := partition(i)
		if !ok {
			c, columns = columns[0], columns[1:]
		}
		out[i] = c
	}
	return out
}

// ReadRows writes the partition columns, then makes the file's reader write the others.
func (p *partitioned) ReadRows(ctx context.Context, to []Target, m *progress.Meter) error {
	var fileTargets []Target
	for _, t := range to {
		if t.Index < p.fileColumns {
			fileTargets = append(fileTargets, t)
			continue
		}
		if err := p.fillConstant(t, p.parts[t.Index-p.fileColumns].Value); err != nil {
			return err
		}
	}
	err := p.Reader.ReadRows(ctx, fileTargets, m)
	if wider := (*WidenError)(nil); errors.As(err, &wider) {
		return &WidenError{p.merge(wider.Columns, func(i int) (column.Column, bool) {
			return to[i].Column, to[i].Index >= p.fileColumns
		}, len(to))}
	}
	return err
}

// fillConstant writes one value to all rows of a column.
func (p *partitioned) fillConstant(t Target, value string) error {
	var v int64
	if t.Dest.DType == layout.Text {
		v = int64(t.Words.Code([]byte(value)))
	} else {
		// succeeds: Describe returned an integer type
		v, _ = textvalue.ParseCanonical([]byte(value))
	}
	const block = 1 << 12
	values := slices.Repeat([]int64{v}, int(min(block, p.Rows())))
	for row := int64(0); row < p.Rows(); row += block {
		if column.Write(t.Dest, t.Row0+row, values[:min(block, p.Rows()-row)]) >= 0 {
			return &loaderr.SourceError{
				Path: p.Path(), Column: t.Name, Text: value, Reason: "does not fit " +
					string(t.Dest.DType),
			}
		}
	}
	return nil
}

// GroupRows returns the number of rows of each row group. A file without row groups is one group.
// It returns nil if cells of the file may widen a column, because then every row must be read.
func (p *partitioned) GroupRows() []int64 {
	if p.inferred {
		return nil
	}
	if r, ok := p.Reader.(RowGroupPruner); ok {
		return r.GroupRows()
	}
	return []int64{p.Rows()}
}

// Bounds returns the bounds of a column in a row group. Both bounds of a partition column are its
// value.
func (p *partitioned) Bounds(index, group int, as column.Column) (least, most any, ok bool) {
	if index < p.fileColumns {
		if g, ok := p.Reader.(RowGroupPruner); ok {
			return g.Bounds(index, group, as)
		}
		return nil, nil, false
	}
	value := p.parts[index-p.fileColumns].Value
	if as.Kind == column.KindText {
		return value, value, true
	}
	v, ok := textvalue.ParseCanonical([]byte(value))
	return v, v, ok && as.Kind.IsInteger()
}

// Without returns a reader of the row groups that are not skipped.
func (p *partitioned) Without(skip []bool) Reader {
	g, ok := p.Reader.(RowGroupPruner)
	if !ok { // the file is one group, and Without never skips all groups
		return p
	}
	q := *p
	q.Reader = g.Without(skip)
	return &q
}

// PartitionOf returns the key of the first partition column of r. ok is false if r has none.
func PartitionOf(r Reader) (key string, ok bool) {
	if t, is := r.(*timeParts); is {
		r = t.Reader
	}
	if p, is := r.(*partitioned); is {
		return p.parts[0].Key, true
	}
	return "", false
}
