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

// partitioned adds to the columns of a file those that its folders name; each holds one value in all rows.
type partitioned struct {
	Reader
	parts       []files.Part
	fileColumns int // columns of the file
}

func WithPartitions(r Reader, parts []files.Part) (Reader, error) {
	if len(parts) == 0 {
		return r, nil
	}
	for _, p := range parts {
		if slices.Contains(r.Names(), p.Key) {
			return nil, &loaderr.SourceError{Path: r.Path(), Column: p.Key, Reason: fmt.Sprintf("is in the file and in the name of its folder, %s=%s", p.Key, p.Value), Hint: "name the files instead of the folder"}
		}
	}
	return &partitioned{r, parts, len(r.Names())}, nil
}

func (p *partitioned) Names() []string {
	out := slices.Clone(p.Reader.Names())
	for _, part := range p.parts {
		out = append(out, part.Key)
	}
	return out
}

// Describe takes a value for an integer where it is written as one; over all files the widest counts.
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

// Merge puts the folders' columns between those of the file.
func (p *partitioned) merge(columns []column.Column, partition func(i int) (column.Column, bool), n int) []column.Column {
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

func (p *partitioned) Fill(ctx context.Context, to []Target, m *progress.Meter) error {
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
	err := p.Reader.Fill(ctx, fileTargets, m)
	if wider := (*WidenError)(nil); errors.As(err, &wider) {
		return &WidenError{p.merge(wider.Columns, func(i int) (column.Column, bool) { return to[i].Column, to[i].Index >= p.fileColumns }, len(to))}
	}
	return err
}

// fillConstant fills a column with one value.
func (p *partitioned) fillConstant(t Target, value string) error {
	var v int64
	if t.Dest.DType == layout.Text {
		v = int64(t.Words.Code([]byte(value)))
	} else {
		v, _ = textvalue.ParseCanonical([]byte(value)) // describe has said so
	}
	const block = 1 << 12
	values := slices.Repeat([]int64{v}, int(min(block, p.Rows())))
	for row := int64(0); row < p.Rows(); row += block {
		if column.Put(t.Dest, t.Row0+row, values[:min(block, p.Rows()-row)]) >= 0 {
			return &loaderr.SourceError{Path: p.Path(), Column: t.Name, Text: value, Reason: "does not fit " + string(t.Dest.DType)}
		}
	}
	return nil
}

func (p *partitioned) GroupRows() []int64 {
	if r, ok := p.Reader.(RowGroupPruner); ok {
		return r.GroupRows()
	}
	return []int64{p.Rows()}
}

// Bounds are the folder's value, for its columns.
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

func (p *partitioned) Without(skip []bool) Reader {
	g, ok := p.Reader.(RowGroupPruner)
	if !ok { // one group, and not that
		return p
	}
	q := *p
	q.Reader = g.Without(skip)
	return &q
}

// PartitionOf returns the key of the first partition of r; ok is false if its folders name none.
func PartitionOf(r Reader) (key string, ok bool) {
	if p, is := r.(*partitioned); is {
		return p.parts[0].Key, true
	}
	return "", false
}
