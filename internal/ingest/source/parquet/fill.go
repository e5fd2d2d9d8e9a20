package parquet

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// parquetFill writes the columns of a Parquet file, chunk by chunk: one column of one row group.
type parquetFill struct {
	*parquetFile
	to       []source.Target
	read     []int   // row groups
	ahead    []int64 // rows that are left out before each
	groups   []parquet.RowGroup
	indirect []atomic.Bool // columns of which a chunk could not be decoded directly
	workers  []parquetWorker
}

// parquetWorker is what a worker keeps from chunk to chunk.
type parquetWorker struct {
	directBuffers
	column int                 // of to, that the worker writes
	dest   layout.ColumnWriter // that column, buffered
	open   bool                // there is one
}

// buffered returns a column, buffered for the worker: the same one from chunk to chunk of it. It closes that of another column before.
func (w *parquetWorker) buffered(column int, c layout.ColumnWriter) layout.ColumnWriter {
	if w.open && w.column == column {
		return w.dest
	}
	w.close()
	w.column, w.dest, w.open = column, c.Buffered(), true
	return w.dest
}

// close stores what the worker has gathered.
func (w *parquetWorker) close() {
	if w.open {
		w.dest.Close()
		w.open = false
	}
}

// fill decodes every chunk on its own.
func (p *parquetFile) Fill(ctx context.Context, to []source.Target, m *progress.Meter) error {
	f := &parquetFill{parquetFile: p, to: to, groups: p.pq.RowGroups(), indirect: make([]atomic.Bool, len(to)), workers: make([]parquetWorker, p.Workers)}
	var skipped int64
	for g := range f.groups {
		if p.skip != nil && p.skip[g] {
			skipped += p.groups[g+1] - p.groups[g]
			continue
		}
		f.read, f.ahead = append(f.read, g), append(f.ahead, skipped)
	}
	rows0, bytes0 := m.Rows.Load(), m.Bytes.Load()
	var cells atomic.Int64
	order := newColumnRuns(f.bytes(), len(to), p.Workers)
	return parallel.ForBy(ctx, p.Workers, len(f.read)*len(to), p.name, order.take, func(worker, task int) error {
		g, t := f.read[task/len(to)], to[task%len(to)]
		t.Row0 -= f.ahead[task/len(to)] // rows are the file's in messages
		n := f.groups[g].NumRows()
		if n == 0 {
			return nil
		}
		if err := parallel.Guard(p.name, func() error { return f.chunk(&f.workers[worker], g, task%len(to), t) }); err != nil {
			return p.locate(err, g, t)
		}
		done := cells.Add(n)
		share := float64(done) / float64(len(to)) / float64(p.Rows())
		m.Rows.Store(rows0 + int64(share*float64(p.Rows())))
		m.Bytes.Store(bytes0 + int64(share*float64(p.size)))
		return nil
	}, func(worker int) { f.workers[worker].close() })
}

// bytes are those of the wanted columns in each row group that is read.
func (f *parquetFill) bytes() []int64 {
	out := make([]int64, len(f.read))
	for i, g := range f.read {
		for _, t := range f.to {
			out[i] += f.pq.Metadata().RowGroups[g].Columns[f.columns[t.Index].Index()].MetaData.TotalCompressedSize
		}
	}
	return out
}

// chunk decodes a column of a row group that has rows.
func (f *parquetFill) chunk(w *parquetWorker, g, column int, t source.Target) error {
	c, n := f.columns[t.Index], f.groups[g].NumRows()
	form, err := parquetForm(c)
	if err != nil {
		return err
	}
	if form.null {
		return (&parquetChunk{Target: t, form: form, first: f.parquetFile.groups[g]}).nothing(n)
	}
	chunk := &f.pq.Metadata().RowGroups[g].Columns[c.Index()]
	if form.physical == parquet.Boolean {
		b := &boolChunk{Target: t, first: f.parquetFile.groups[g], rows: n, nullable: c.MaxDefinitionLevel() > 0, codec: c.Compression()}
		b.meta = &chunk.MetaData
		return b.read(f.file)
	}
	if form.collects() {
		t.Dest.ColumnWriter = w.buffered(column, t.Dest.ColumnWriter)
	}
	if !f.indirect[column].Load() {
		err := parallel.Guard(f.name, func() error {
			return readDirect(f.file, &w.directBuffers, t, form, t.Row0+f.parquetFile.groups[g], chunk, c.Compression(), c.MaxDefinitionLevel() > 0)
		})
		if err == nil {
			return nil
		}
		f.indirect[column].Store(true)
	}
	if form.collects() {
		w.close() // what follows goes to the same rows, by other ways too
		t.Dest.ColumnWriter = w.buffered(column, f.to[column].Dest.ColumnWriter)
		defer w.close()
	}
	p := &parquetChunk{Target: t, form: form, first: f.parquetFile.groups[g], rows: n, maxLevel: byte(c.MaxDefinitionLevel())}
	if err := checkPages(f.file, &chunk.MetaData, n); err != nil {
		return err
	}
	err = p.read(f.file, &chunk.MetaData, f.groups[g].ColumnChunks()[c.Index()].Pages())
	if errors.Is(err, snappy.ErrCorrupt) && nullsAlone(f.file, &chunk.MetaData, n) {
		return p.nothing(n)
	}
	return err
}
