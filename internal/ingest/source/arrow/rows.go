package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// sliceRows is the number of rows of a batch that are converted at a time.
const sliceRows = 1 << 18

// ReadRows decodes the record batches one after the other, and the columns of a batch in parallel.
func (s *streamReader) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	mem := &batchMemory{dir: s.dir}
	defer mem.close()
	r, err := s.open(mem)
	if err != nil {
		return err
	}
	defer r.Release()
	row, batch := int64(0), 1
	for ; r.Next(); batch++ {
		b := r.Record()
		if b.NumRows() > s.rows-row {
			return &loaderr.SourceError{Batch: batch, Reason: "more rows than were announced"}
		}
		err := parallel.For(ctx, s.workers, len(to), "", func(_, i int) error {
			return addPlace(
				parallel.Guard("", func() error { return s.writeChecked(ctx, b, to[i], row) }),
				to[i].Name, batch)
		})
		if err != nil {
			return err
		}
		row += b.NumRows()
		m.Rows.Add(b.NumRows())
		m.Bytes.Add(int64(float64(s.bytes) * float64(b.NumRows()) / float64(s.rows)))
	}
	if mem.err != nil {
		return mem.err
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return &loaderr.SourceError{
			Batch:  batch,
			Reason: "the Arrow stream cannot be decoded: " + loaderr.DecoderText(err),
			Hint:   s.hint(""),
		}
	}
	if row != s.rows {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("the Arrow stream has %d rows, its messages say %d", row, s.rows),
		}
	}
	return nil
}

// addPlace adds the column and the record batch to an error that has none. An error with a row gets
// no batch, because the row is more precise.
func addPlace(err error, column string, batch int) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
		if e.Column == "" {
			e.Column = column
		}
		if e.Row == 0 && e.Batch == 0 {
			e.Batch = batch
		}
	}
	return err
}

// writeChecked writes a column of a record batch after it has checked the array's length, null
// count and buffers. row is the batch's first row in the stream.
func (s *streamReader) writeChecked(
	ctx context.Context, b arrow.Record, to source.Target, row int64,
) error {
	whole := b.Column(s.fields[to.Index])
	if n := whole.Len(); int64(n) != b.NumRows() {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has %d rows, its batch %d", n, b.NumRows()),
			Hint:   s.hint(""),
		}
	}
	if declared, n := nullCounts(whole); declared != n {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("says that it has %s and has %d",
				loaderr.Count(declared, "null"), n),
			Hint: s.hint(""),
		}
	}
	if have, need := shortBuffer(whole.Data()); have < need {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has a buffer of %d bytes, its rows need %d", have, need),
			Hint:   s.hint(""),
		}
	}
	return s.writeSlices(ctx, whole, batchColumn{Target: to, row: row})
}

// writeSlices writes a column of a record batch slice by slice.
func (s *streamReader) writeSlices(ctx context.Context, whole arrow.Array, to batchColumn) error {
	n, first := int64(whole.Len()), to.row
	for at := int64(0); at < n; at += sliceRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := array.NewSlice(whole, at, min(n, at+sliceRows))
		to.row = first + at
		err := to.write(part)
		part.Release()
		if e := (*loaderr.SourceError)(nil); err != nil && !errors.As(err, &e) {
			err = &loaderr.SourceError{Reason: loaderr.DecoderText(err)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
