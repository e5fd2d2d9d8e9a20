package parquet

import (
	"context"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// fileRead is the state of one ReadRows: it decodes a Parquet file column chunk by column chunk.
type fileRead struct {
	*parquetFile
	to            []source.Target
	groupsRead    []int   // row groups that are read
	skippedBefore []int64 // by row group of groupsRead: rows of the skipped row groups before it
	groups        []parquet.RowGroup
	unsupported   []atomic.Bool // by column: the fast path failed for one of its chunks
	workers       []readWorker
}

// readWorker is the state of a worker that lives from column chunk to column chunk.
type readWorker struct {
	fastBuffers
	column int                 // index in fillState.to of the column that dest writes
	dest   layout.ColumnWriter // that column, with a buffer of its own
	open   bool                // dest is valid
}

// buffered returns a buffered writer of a column. The chunks of one column share a writer; the
// writer of another column is flushed and closed first.
func (w *readWorker) buffered(column int, c layout.ColumnWriter) layout.ColumnWriter {
	if w.open && w.column == column {
		return w.dest
	}
	w.flush()
	w.column, w.dest, w.open = column, c.Buffered(), true
	return w.dest
}

// flush writes the worker's buffer and closes the writer.
func (w *readWorker) flush() {
	if w.open {
		w.dest.Close()
		w.open = false
	}
}

// ReadRows decodes the wanted columns. Each column chunk is one task.
func (p *parquetFile) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	f := &fileRead{
		parquetFile: p,
		to:          to,
		groups:      p.pq.RowGroups(),
		unsupported: make([]atomic.Bool, len(to)),
		workers:     make([]readWorker, p.Workers),
	}
	var skipped int64
	for g := range f.groups {
		if p.skip != nil && p.skip[g] {
			skipped += p.firstRows[g+1] - p.firstRows[g]
			continue
		}
		f.groupsRead, f.skippedBefore = append(f.groupsRead, g), append(f.skippedBefore, skipped)
	}
	var columns []int
	for _, t := range to {
		columns = append(columns, t.Index)
	}
	p.repair(columns)
	rows0, bytes0 := m.Rows.Load(), m.Bytes.Load()
	var cells atomic.Int64
	order := newChunkSchedule(f.groupBytes(), len(to), p.Workers)
	return parallel.ForBy(ctx, p.Workers, len(f.groupsRead)*len(to), p.name, order.next,
		func(worker, task int) error {
			g, t := f.groupsRead[task/len(to)], to[task%len(to)]
			t.Row0 -= f.skippedBefore[task/len(to)] // messages count rows of the file
			n := f.groups[g].NumRows()
			if n == 0 {
				return nil
			}
			if err := parallel.Guard(p.name, func() error {
				return f.decodeChunk(&f.workers[worker], g, task%len(to), t)
			}); err != nil {
				return p.locate(err, g, t)
			}
			done := cells.Add(n)
			share := float64(done) / float64(len(to)) / float64(p.Rows())
			m.Rows.Store(rows0 + int64(share*float64(p.Rows())))
			m.Bytes.Store(bytes0 + int64(share*float64(p.size)))
			return nil
		}, func(worker int) { f.workers[worker].flush() })
}

// groupBytes returns the compressed bytes of the wanted columns for each row group that is read.
func (f *fileRead) groupBytes() []int64 {
	out := make([]int64, len(f.groupsRead))
	for i, g := range f.groupsRead {
		for _, t := range f.to {
			out[i] += f.columns[t.Index].chunk(g).MetaData.TotalCompressedSize
		}
	}
	return out
}

// decodeChunk decodes the column chunk of row group g, which has at least one row.
func (f *fileRead) decodeChunk(w *readWorker, g, column int, t source.Target) error {
	c, n := f.columns[t.Index], f.groups[g].NumRows()
	typ, err := columnTypeOf(c)
	if err != nil {
		return err
	}
	if typ.allNull {
		return (&generalDecoder{Target: t, typ: typ, first: f.parquetFile.firstRows[g]}).
			writeAllMissing(n)
	}
	chunk := c.chunk(g)
	if typ.physical == parquet.Boolean {
		b := &boolDecoder{
			Target:   t,
			first:    f.parquetFile.firstRows[g],
			rows:     n,
			nullable: c.MaxDefinitionLevel() > 0,
			codec:    c.Compression(),
		}
		b.meta = &chunk.MetaData
		return b.read(f.pages)
	}
	if typ.buffered() {
		t.Dest.ColumnWriter = w.buffered(column, t.Dest.ColumnWriter)
	}
	if !f.unsupported[column].Load() {
		err := parallel.Guard(f.name, func() error {
			return decodeFast(f.file, &w.fastBuffers, t, typ,
				t.Row0+f.parquetFile.firstRows[g], chunk,
				c.Compression(), c.MaxDefinitionLevel() > 0)
		})
		if err == nil {
			return nil
		}
		f.unsupported[column].Store(true)
	}
	if typ.buffered() {
		w.flush() // the general path writes the same rows, some of them not through the buffer
		t.Dest.ColumnWriter = w.buffered(column, f.to[column].Dest.ColumnWriter)
		defer w.flush()
	}
	p := &generalDecoder{
		Target:   t,
		typ:      typ,
		first:    f.parquetFile.firstRows[g],
		rows:     n,
		maxLevel: byte(c.MaxDefinitionLevel()),
	}
	empty, err := checkPages(f.pages, &chunk.MetaData, n)
	if err != nil {
		return err
	}
	from := c.file.RowGroups()[g].ColumnChunks()[c.Index()]
	if file, ok := from.(*parquet.FileColumnChunk); ok && empty {
		pages, err := plainPages(f.pages, file, &chunk.MetaData)
		if err != nil {
			return err
		}
		return p.read(f.pages, &chunk.MetaData, pages)
	}
	return p.read(f.pages, &chunk.MetaData, from.Pages())
}
