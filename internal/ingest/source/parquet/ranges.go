package parquet

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/origin"
)

// Ranges returns the bytes of the column chunks that ReadRows decodes.
func (p *parquetFile) Ranges(w []column.Want) []origin.Range {
	defects := defectsOf(p.pq.Metadata().CreatedBy)
	var out []origin.Range
	for g := range p.pq.Metadata().RowGroups {
		group := &p.pq.Metadata().RowGroups[g]
		if p.skip != nil && p.skip[g] || group.NumRows == 0 {
			continue
		}
		for _, x := range w {
			c := p.columns[x.Index]
			if typ, err := columnTypeOf(c); err == nil && typ.allNull {
				continue // its pages are not read
			}
			begin, end := chunkRange(&c.chunk(g).MetaData, defects, p.size)
			out = append(out, origin.Range{begin, end})
		}
	}
	return out
}

// chunkRange returns the bytes of a column chunk that any of the decoders may read. size is that of
// the file.
func chunkRange(m *format.ColumnMetaData, d writerDefects, size int64) (begin, end int64) {
	begin = chunkOffset(m)
	// parquet-go begins at the dictionary page, wherever the footer says it is.
	end = max(begin, m.DictionaryPageOffset) + max(0, m.TotalCompressedSize)
	if d.shortChunks {
		end += maxDictionaryHeader
	}
	return max(0, begin), min(end, size)
}
