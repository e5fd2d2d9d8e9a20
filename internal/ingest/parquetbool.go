package ingest

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// boolReader reads boolean columns with Arrow's low-level reader: parquet-go decodes those in RLE wrong without a word.
type boolReader struct {
	p    *parquetFile
	open func() (*file.Reader, error)
}

func newBoolReader(p *parquetFile) *boolReader {
	return &boolReader{p: p, open: sync.OnceValues(func() (*file.Reader, error) {
		props := arrowparquet.NewReaderProperties(memory.DefaultAllocator)
		props.BufferedStreamEnabled, props.BufferSize = true, pageBuffer
		return file.NewParquetReader(io.NewSectionReader(p.file, 0, p.size), file.WithReadProps(props))
	})}
}

// read fills the n rows of one row group.
func (b *boolReader) read(group int, c parquetColumn, t target, first, n int64) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	chunk, err := r.RowGroup(group).Column(c.Index())
	if err != nil {
		return err
	}
	column, ok := chunk.(*file.BooleanColumnChunkReader)
	if !ok {
		return fmt.Errorf("is %s", chunk.Type())
	}
	values := make([]bool, tileRows)
	cells := make([]uint8, tileRows)
	levels := make([]int16, tileRows)
	for row := int64(0); row < n; {
		got, read, err := column.ReadBatch(min(tileRows, n-row), values, levels, nil)
		if err != nil {
			return err
		}
		if got <= 0 {
			return errors.Join(column.Err(), fmt.Errorf("its pages have %d rows, its row group has %d", row, n))
		}
		if c.MaxDefinitionLevel() > 0 {
			for i, l := range levels[:got] {
				if int(l) != c.MaxDefinitionLevel() {
					return (&parquetChunk{first: first}).null(row + int64(i))
				}
			}
		}
		if int64(read) != got {
			return fmt.Errorf("a page of %d rows has %d values", got, read)
		}
		for i, v := range values[:got] {
			cells[i] = 0
			if v {
				cells[i] = 1
			}
		}
		put(t.dest, t.row0+first+row, cells[:got])
		row += got
	}
	return nil
}
