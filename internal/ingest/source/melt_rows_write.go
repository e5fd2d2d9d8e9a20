package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// ReadRows writes the values of each series, and its names beside each.
func (m *MeltedRows) ReadRows(ctx context.Context, to []Target, meter *progress.Meter) error {
	for _, t := range to {
		var err error
		switch {
		case t.Index < len(m.items):
			err = m.writeNames(ctx, t)
		case m.floats != nil:
			err = writeSeries(ctx, m, t, m.floats)
		case m.integers != nil:
			err = writeSeries(ctx, m, t, m.integers)
		case m.singles != nil:
			err = writeSeries(ctx, m, t, m.singles)
		default:
			err = writeSeries(ctx, m, t, m.halves)
		}
		if err != nil {
			return err
		}
	}
	meter.Rows.Add(m.Rows())
	return nil
}

// writeNames writes the name of each series beside each of its values.
func (m *MeltedRows) writeNames(ctx context.Context, t Target) error {
	dest := m.scratch.Column(t.Index, layout.Random)
	if d := m.words[t.Index]; d != nil {
		codes := layout.Values[int32](dest)
		return repeatNames(ctx, m, t, func(row int64) int32 {
			return t.Words.Code([]byte(d.Words[codes.Data[row*codes.Step]]))
		})
	}
	numbers := layout.Values[int64](dest)
	if t.Words != nil { // another source has texts
		return repeatNames(ctx, m, t, func(row int64) int32 {
			return t.Words.Code(fmt.Append(nil, numbers.Data[row*numbers.Step]))
		})
	}
	return repeatNames(ctx, m, t,
		func(row int64) int64 { return numbers.Data[row*numbers.Step] })
}

// repeatNames writes the name of each row as often as the row has values.
func repeatNames[T int32 | int64](
	ctx context.Context, m *MeltedRows, t Target, name func(row int64) T,
) error {
	var block []T
	for row := range m.Reader.Rows() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, n := m.offsets[row], m.offsets[row+1]-m.offsets[row]
		block = append(block[:0], slices.Repeat([]T{name(row)}, int(n))...)
		if bad := column.Write(t.Dest, t.Row0+first, block); bad >= 0 {
			return t.RangeError(row+1, block[bad])
		}
	}
	return nil
}

// writeSeries writes the values of the series, one after the other.
func writeSeries[T column.Storable](
	ctx context.Context, m *MeltedRows, t Target, series []layout.Strided[T],
) error {
	var block []T
	for row := range m.Reader.Rows() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, n := m.offsets[row], m.offsets[row+1]-m.offsets[row]
		block = block[:0]
		for _, s := range series[:n] {
			block = append(block, s.Data[row*s.Step])
		}
		if bad := column.Write(t.Dest, t.Row0+first, block); bad >= 0 {
			t.Name = m.values()[bad].Name
			return t.RangeError(row+1, block[bad])
		}
	}
	return nil
}
