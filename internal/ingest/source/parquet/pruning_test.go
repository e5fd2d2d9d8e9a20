package parquet

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// TestOnlyStatisticsWithAnOrderAreTrusted reads the bounds of columns of different types, and of
// columns whose statistics are incomplete or have no defined order.
func TestOnlyStatisticsWithAnOrderAreTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	loadtest.ParquetGroups(t, path,
		[]loadtest.GroupedRow{loadtest.NewGroupedRow("a", -1, 1000, 1<<31+5, 0.5),
			loadtest.NewGroupedRow("b", 7, 2000, 3, 1.5)}, 2)
	number, text, when := column.Column{Kind: column.KindInt64},
		column.Column{Kind: column.KindText}, column.Column{Kind: column.KindTime, Unit: "ms"}
	meta := func(p *parquetFile, i int) *format.Statistics {
		return &p.pq.Metadata().RowGroups[0].Columns[i].MetaData.Statistics
	}
	for name, c := range map[string]struct {
		index       int
		as          column.Column
		change      func(p *parquetFile)
		least, most any // nil if the statistics are not trusted
	}{
		"texts":             {0, text, nil, "a", "b"},
		"signed":            {1, number, nil, int64(-1), int64(7)},
		"times":             {2, when, nil, int64(1000), int64(2000)},
		"unsigned":          {3, number, nil, int64(3), int64(1<<31 + 5)},
		"floats":            {4, column.Column{Kind: column.KindFloat64}, nil, nil, nil},
		"another unit":      {2, column.Column{Kind: column.KindTime, Unit: "us"}, nil, nil, nil},
		"texts as integers": {0, number, nil, nil, nil},
		"integers as texts": {1, text, nil, nil, nil},
		"nulls": {1, number,
			func(p *parquetFile) { meta(p, 1).NullCount = 1 }, nil, nil},
		"no order": {1, number,
			func(p *parquetFile) { p.pq.Metadata().ColumnOrders = nil }, nil, nil},
		"deprecated fields": {1, number, func(p *parquetFile) {
			s := meta(p, 1)
			s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil
		}, nil, nil},
		"crossed": {1, number, func(p *parquetFile) {
			s := meta(p, 1)
			s.MinValue,
				s.MaxValue = s.MaxValue, s.MinValue
		}, nil, nil},
		"of another size": {1, number,
			func(p *parquetFile) { meta(p, 1).MinValue = make([]byte, 8) }, nil, nil},
		"cut texts": {0, text,
			func(p *parquetFile) { meta(p, 0).MaxValue = bytes.Repeat([]byte("b"), maxBoundBytes) },
			nil, nil},
		"no greatest": {0, text, func(p *parquetFile) { meta(p, 0).MaxValue = nil }, nil, nil},
	} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, files.NewFile(f),
			source.Settings{Workers: 1, Decompression: files.Decompression{Dir: t.TempDir()},
				Text: textvalue.DefaultDialect})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := r.(*parquetFile)
		if c.change != nil {
			c.change(p)
		}
		least, most, ok := p.Bounds(c.index, 0, c.as)
		if ok != (c.least != nil) || ok && (least != c.least || most != c.most) {
			t.Errorf("%s: %v to %v, %v; want %v to %v", name, least, most, ok, c.least, c.most)
		}
	}
}
