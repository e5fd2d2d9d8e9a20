package ingest

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
	reader
	parts []files.Part
	inner int // columns of the file
}

func newPartitioned(r reader, parts []files.Part) (reader, error) {
	if len(parts) == 0 {
		return r, nil
	}
	for _, p := range parts {
		if slices.Contains(r.names(), p.Key) {
			return nil, &loaderr.SourceError{Path: r.path(), Column: p.Key, Reason: fmt.Sprintf("is in the file and in the name of its folder, %s=%s", p.Key, p.Value), Hint: "name the files instead of the folder"}
		}
	}
	return &partitioned{r, parts, len(r.names())}, nil
}

func (p *partitioned) names() []string {
	out := slices.Clone(p.reader.names())
	for _, part := range p.parts {
		out = append(out, part.Key)
	}
	return out
}

// describe takes a value for an integer where it is written as one; over all files the widest counts.
func (p *partitioned) describe(w []column.Want) ([]column.Column, error) {
	var inner []column.Want
	for _, x := range w {
		if x.Index < p.inner {
			inner = append(inner, x)
		}
	}
	columns, err := p.reader.describe(inner)
	if err != nil {
		return nil, err
	}
	return p.merge(columns, func(i int) (column.Column, bool) {
		if w[i].Index < p.inner {
			return column.Column{}, false
		}
		part := p.parts[w[i].Index-p.inner]
		c := column.Column{Name: part.Key, Kind: column.KindText, Inferred: true, Names: true}
		if _, ok := textvalue.ParseCanonical([]byte(part.Value)); ok {
			c.Kind = column.KindInt64
		}
		return c, true
	}, len(w)), nil
}

// merge puts the folders' columns between those of the file.
func (p *partitioned) merge(inner []column.Column, own func(i int) (column.Column, bool), n int) []column.Column {
	out := make([]column.Column, n)
	for i := range out {
		c, ok := own(i)
		if !ok {
			c, inner = inner[0], inner[1:]
		}
		out[i] = c
	}
	return out
}

func (p *partitioned) fill(ctx context.Context, to []target, m *progress.Meter) error {
	var inner []target
	for _, t := range to {
		if t.Index < p.inner {
			inner = append(inner, t)
			continue
		}
		if err := p.constant(t, p.parts[t.Index-p.inner].Value); err != nil {
			return err
		}
	}
	err := p.reader.fill(ctx, inner, m)
	if wider := (*widenError)(nil); errors.As(err, &wider) {
		return &widenError{p.merge(wider.columns, func(i int) (column.Column, bool) { return to[i].Column, to[i].Index >= p.inner }, len(to))}
	}
	return err
}

// constant fills a column with one value.
func (p *partitioned) constant(t target, value string) error {
	var v int64
	if t.dest.DType == layout.Text {
		v = int64(t.dict.Code([]byte(value)))
	} else {
		v, _ = textvalue.ParseCanonical([]byte(value)) // describe has said so
	}
	const block = 1 << 12
	values := slices.Repeat([]int64{v}, int(min(block, p.rows())))
	for row := int64(0); row < p.rows(); row += block {
		if column.Put(t.dest, t.row0+row, values[:min(block, p.rows()-row)]) >= 0 {
			return &loaderr.SourceError{Path: p.path(), Column: t.Name, Text: value, Reason: "does not fit " + string(t.dest.DType)}
		}
	}
	return nil
}

func (p *partitioned) groupRows() []int64 {
	if r, ok := p.reader.(grouped); ok {
		return r.groupRows()
	}
	return []int64{p.rows()}
}

// bounds are the folder's value, for its columns.
func (p *partitioned) bounds(index, group int, as column.Column) (least, most any, ok bool) {
	if index < p.inner {
		if g, ok := p.reader.(grouped); ok {
			return g.bounds(index, group, as)
		}
		return nil, nil, false
	}
	value := p.parts[index-p.inner].Value
	if as.Kind == column.KindText {
		return value, value, true
	}
	v, ok := textvalue.ParseCanonical([]byte(value))
	return v, v, ok && as.Kind.IsInteger()
}

func (p *partitioned) without(skip []bool) reader {
	g, ok := p.reader.(grouped)
	if !ok { // one group, and not that
		return p
	}
	q := *p
	q.reader = g.without(skip)
	return &q
}

// partitionOf returns the key of the first partition of r; ok is false if its folders name none.
func partitionOf(r reader) (key string, ok bool) {
	if p, is := r.(*partitioned); is {
		return p.parts[0].Key, true
	}
	return "", false
}
