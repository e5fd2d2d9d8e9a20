// Package parquet reads Parquet files, row group by row group and column by column, on several workers.
//
// fast_path.go decodes plain and dictionary numbers without missing values. Whatever it does not take,
// page.go decodes with parquet-go, or says what is wrong with it. parquet-go is correct except for
// three cases in which it silently returns wrong values: LZ4_RAW, the wide deltas of DuckDB, and
// booleans in RLE. It also trusts the footer where it should not. So headers are checked before it
// reads a page, and booleans have a decoder of their own.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/cached"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// parquetFile is the reader of one file. What it checks and refuses was found by tests against the
// files of pyarrow.
type parquetFile struct {
	source.Settings
	file      cached.File
	name      string
	size      int64
	pq        *parquet.File
	columns   []parquetColumn
	header    []string
	firstRows []int64 // the first row of each row group, and the number of all rows
	skip      []bool  // by row group: what is not read; nil if all is
}

// pageBuffer is what a worker reads ahead: the header of a page, and little of its values, which are then read to where they are wanted.
const pageBuffer = 4 << 10

func Open(path string, f *os.File, w source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	if err := checkMagic(path, f, st.Size()); err != nil {
		return nil, err
	}
	file := cached.File{File: f}
	pq, err := parquet.OpenFile(file, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(pageBuffer))
	if err != nil {
		return nil, footerError(path, err)
	}
	var hints []arrowHint
	if schema, ok := pq.Lookup(arrowSchemaKey); ok {
		if hints, err = parseArrowHints(path, schema); err != nil {
			return nil, err
		}
	}
	p := &parquetFile{Settings: w, file: file, name: path, size: st.Size(), pq: pq, columns: schemaFields(pq, hints)}
	for _, c := range p.columns {
		p.header = append(p.header, c.Name())
	}
	return p, p.checkRowCounts()
}

// Spark writes pages of version 2 that hold nulls alone without any byte of snappy, and parquet-go decodes none.
const hintNullPages = "the file is damaged, or has pages of version 2 with nulls alone: write it with zstd, or with pages of version 1"

func footerError(path string, err error) error {
	return &loaderr.SourceError{Path: path, Reason: "its footer cannot be read: " + err.Error(), Hint: loaderr.HintDamaged}
}

// checkMagic refuses what is no whole Parquet file.
func checkMagic(path string, f *os.File, size int64) error {
	var begin, end [4]byte
	if size >= 12 {
		for at, b := range map[int64][]byte{0: begin[:], size - 4: end[:]} {
			if _, err := f.ReadAt(b, at); err != nil {
				return files.AsSourceError(path, err)
			}
		}
	}
	switch {
	case string(begin[:]) == "PARE" || string(end[:]) == "PARE":
		return &loaderr.SourceError{Path: path, Reason: "is encrypted, which is not read"}
	case string(begin[:]) != Magic:
		return &loaderr.SourceError{Path: path, Reason: "is no Parquet file: it does not begin with " + Magic, Hint: "name it after what it holds, as x.csv, or write it again"}
	case string(end[:]) != Magic:
		return &loaderr.SourceError{Path: path, Reason: "is cut off: its end is not that of a Parquet file", Hint: loaderr.HintDamaged}
	}
	var length [4]byte
	if _, err := f.ReadAt(length[:], size-8); err != nil {
		return files.AsSourceError(path, err)
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > size-12 {
		return &loaderr.SourceError{Path: path, Reason: fmt.Sprintf("its footer of %d bytes is longer than the file", n), Hint: loaderr.HintDamaged}
	}
	if err := checkFooter(f, size, n); err != nil {
		return footerError(path, err)
	}
	return nil
}

// countRows holds the numbers of rows in the footer against each other.
func (p *parquetFile) checkRowCounts() error {
	rows := int64(0)
	for _, g := range p.pq.RowGroups() {
		if g.NumRows() < 0 {
			return p.damaged(fmt.Sprintf("a row group of %d rows", g.NumRows()))
		}
		p.firstRows = append(p.firstRows, rows)
		rows += g.NumRows()
	}
	p.firstRows = append(p.firstRows, rows)
	if want := p.pq.NumRows(); rows != want {
		return p.damaged(fmt.Sprintf("its row groups have %d rows, its footer says %d", rows, want))
	}
	if rows == 0 {
		return &loaderr.SourceError{Path: p.name, Reason: "has columns but no rows", Hint: loaderr.HintEmpty}
	}
	return nil
}

func (p *parquetFile) damaged(reason string) error {
	return &loaderr.SourceError{Path: p.name, Reason: reason, Hint: loaderr.HintDamaged}
}

func (p *parquetFile) Path() string    { return p.name }
func (p *parquetFile) Names() []string { return p.header }

// rows are those of the row groups that are read.
func (p *parquetFile) Rows() int64 {
	n := p.firstRows[len(p.firstRows)-1]
	for g, skipped := range p.skip {
		if skipped {
			n -= p.firstRows[g+1] - p.firstRows[g]
		}
	}
	return n
}

func (p *parquetFile) Line(int64) int64 { return 0 }
func (p *parquetFile) Close() error     { return p.file.Close() }

// describe says what the columns hold, and refuses those that cannot be read right.
func (p *parquetFile) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		c := p.columns[x.Index]
		typ, err := columnTypeOf(c)
		if err == nil {
			err = p.checkChunks(c, typ)
		}
		if err != nil {
			e := &loaderr.SourceError{Path: p.name, Column: c.Name(), Reason: err.Error(), Hint: "leave the column out with --columns"}
			if r := (*loaderr.HintedError)(nil); errors.As(err, &r) {
				e.Hint = r.Hint
			}
			return nil, e
		}
		out[i] = typ.Column
		out[i].Name = c.Name()
	}
	return out, nil
}

// locate adds to an error the column, the row group and the page that it comes from.
func (p *parquetFile) locate(err error, group int, t source.Target) error {
	in := &pageError{page: -1}
	errors.As(err, &in)
	its := ""
	if in.page == 0 {
		its = "its dictionary "
	}
	var e *loaderr.SourceError
	if !errors.As(err, &e) {
		if errors.Is(err, parallel.ErrFault) {
			return err
		}
		reason := "cannot be decoded: " + err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "ends early"
		}
		e = &loaderr.SourceError{Reason: reason, Hint: loaderr.HintDamaged}
		if errors.Is(err, snappy.ErrCorrupt) && strings.Contains(reason, "data page v2") {
			e.Hint = hintNullPages
		}
	}
	e.Path, e.Column = p.name, t.Name
	if e.Row == 0 {
		e.Group, e.Page, e.Reason = group+1, max(0, in.page), its+e.Reason
	}
	return e
}

const Magic = "PAR1"
