// Package parquet reads Parquet files into columns. Several workers decode column chunks in
// parallel: a column chunk is one column of one row group.
//
// Numbers have two decoders. fast_path.go decodes numbers without nulls, plain or with a
// dictionary: dictionary_page.go decodes the dictionary page, and dictionary_indices.go the indices
// of data pages. If the fast path does not support a column chunk, general_path.go decodes it with
// parquet-go, which also produces the error message if the chunk is damaged. It decodes all texts
// as well. Booleans have a decoder of their own, boolean_pages.go.
//
// old_writers.go works around the defects of old writers that all readers work around.
//
// schedule.go orders the chunks, read.go runs the workers, and pruning.go returns the statistics by
// which row groups are skipped.
//
// # Caveats
//
// parquet-go returns wrong values without an error in three cases: the codec LZ4_RAW, the wide
// deltas of DuckDB, and booleans in RLE. The first two are refused before any page is read; the
// third is decoded here.
//
// parquet-go allocates as many bytes as a file declares, even if the file is smaller. So footer.go
// checks the footer and check_pages.go checks every page header before parquet-go reads them.
//
// parquet-go takes a column of an unknown type for a column of nulls, and refuses keys without
// values, which the format allows. So footer.go and schema.go check the types, and parquet-go reads
// a footer that has a value for each key.
//
// parquet-go cannot decompress pages of nulls alone. So null_pages.go gives it other headers.
package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// parquetFile reads one file.
type parquetFile struct {
	source.Settings
	file    *files.File
	pages   *patchedFile // file, as every decoder but the fast path reads it
	name    string
	size    int64
	pq      *parquet.File // of several, that with the first columns; see parquetColumn.file
	columns []parquetColumn
	header  []string
	index   source.PandasIndex
	// first row of each row group; the last entry is the number of rows of the file
	firstRows []int64
	skip      []bool // by row group, true if it is not read; nil reads all
}

// pageBuffer is the read buffer of a worker in bytes. It holds a page header and few values, so
// that large reads of values bypass it and go to their destination.
const pageBuffer = 4 << 10

// Open reads the footer of a file and checks it. Closing the reader closes f; if Open returns an
// error, the caller closes f.
func Open(path string, f *files.File, w source.Settings) (source.Reader, error) {
	p, err := open(path, f, w, maxFileColumns)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// open makes parquet-go open files of at most maxColumns columns with values.
func open(path string, f *files.File, w source.Settings, maxColumns int) (*parquetFile, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	footer, err := checkMagic(path, f, st.Size())
	if err != nil {
		return nil, err
	}
	file := f
	pages := &patchedFile{}
	var opened []*parquet.File
	err = parallel.Guard(path, func() error {
		views, err := readFooter(file, st.Size(), footer, maxColumns)
		if err != nil {
			return footerError(path, err)
		}
		for _, v := range views {
			pages.ReaderAt = v.ReaderAt // they differ in the footers only
			pq, err := parquet.OpenFile(pages, v.size, parquet.SkipPageIndex(true),
				parquet.SkipBloomFilters(true), parquet.ReadBufferSize(pageBuffer))
			if err != nil {
				return footerError(path, err)
			}
			opened = append(opened, pq)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var hints []arrowHint
	if schema, ok := opened[0].Lookup(arrowSchemaKey); ok {
		if hints, err = parseArrowHints(path, schema); err != nil {
			return nil, err
		}
	}
	p := &parquetFile{
		Settings: w,
		file:     file,
		pages:    pages,
		name:     path,
		size:     st.Size(),
		pq:       opened[0],
		columns:  schemaFields(opened, hints),
	}
	if err := p.orderColumns(); err != nil {
		return nil, err
	}
	for _, c := range p.columns {
		p.header = append(p.header, c.name)
	}
	return p, p.checkRowCounts()
}

// orderColumns puts the columns in the order of a frame of pandas, without those that are left out.
func (p *parquetFile) orderColumns() error {
	metadata, _ := p.pq.Lookup(source.PandasKey)
	p.index = source.ParsePandasIndex(metadata)
	fields := make([]column.Column, len(p.columns))
	for i, c := range p.columns {
		typ, _ := columnTypeOf(c) // Describe returns the error
		fields[i] = typ.Column
		fields[i].Name = c.name
	}
	order, err := p.index.Columns(fields, p.IsNamed)
	if err != nil {
		return err
	}
	ordered := make([]parquetColumn, len(order))
	for i, at := range order {
		ordered[i] = p.columns[at]
	}
	p.columns = ordered
	return nil
}

// footerError returns the error for a footer that cannot be read.
func footerError(path string, err error) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
		e.Path = path
		return e
	}
	return &loaderr.SourceError{
		Path:   path,
		Reason: "its footer cannot be read: " + loaderr.DecoderText(err),
		Hint:   loaderr.HintDamaged,
	}
}

// checkMagic returns the length of the footer, or an error if the file is not a complete Parquet
// file.
func checkMagic(path string, f *files.File, size int64) (footer int64, err error) {
	var begin, end [4]byte
	if size >= 12 {
		for at, b := range map[int64][]byte{0: begin[:], size - 4: end[:]} {
			if _, err := f.ReadAt(b, at); err != nil {
				return 0, files.AsSourceError(path, err)
			}
		}
	}
	switch {
	case string(begin[:]) == encryptedMagic || string(end[:]) == encryptedMagic:
		return 0, &loaderr.SourceError{
			Path:   path,
			Reason: "is an encrypted Parquet file, which is not read",
			Hint:   hintEncrypted,
		}
	case string(begin[:]) != Magic:
		return 0, &loaderr.SourceError{
			Path:   path,
			Reason: "is not a Parquet file: it does not begin with " + Magic,
			Hint:   "give it the suffix of its format, such as .csv, or write it again",
		}
	case string(end[:]) != Magic:
		return 0, &loaderr.SourceError{
			Path:   path,
			Reason: "is cut off: its end is not that of a Parquet file",
			Hint:   loaderr.HintDamaged,
		}
	}
	var length [4]byte
	if _, err := f.ReadAt(length[:], size-8); err != nil {
		return 0, files.AsSourceError(path, err)
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > size-12 {
		return 0, &loaderr.SourceError{
			Path:   path,
			Reason: fmt.Sprintf("its footer of %d bytes is longer than the file", n),
			Hint:   loaderr.HintDamaged,
		}
	}
	return n, nil
}

// checkRowCounts compares the row counts of the row groups with the row count of the file.
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
		return &loaderr.SourceError{
			Path:   p.name,
			Reason: "has columns but no rows",
			Hint:   loaderr.HintEmpty,
		}
	}
	return nil
}

// damaged returns an error with the hint that the file is damaged.
func (p *parquetFile) damaged(reason string) error {
	return &loaderr.SourceError{Path: p.name, Reason: reason, Hint: loaderr.HintDamaged}
}

func (p *parquetFile) Path() string    { return p.name }
func (p *parquetFile) Names() []string { return p.header }

// Rows returns the number of rows in the row groups that are read.
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

// Describe returns the types of the wanted columns. It returns an error for a column that cannot be
// decoded correctly.
func (p *parquetFile) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		c := p.columns[x.Index]
		typ, err := columnTypeOf(c)
		if err == nil {
			err = p.checkChunks(c, typ)
		}
		if err != nil {
			e := &loaderr.SourceError{
				Path:   p.name,
				Column: c.name,
				Reason: err.Error(),
				Hint:   "leave the column out with `columns`",
			}
			if r := (*loaderr.HintedError)(nil); errors.As(err, &r) {
				e.Hint = r.Hint
			}
			return nil, e
		}
		out[i] = typ.Column
		out[i].Name, out[i].NamedOnly = c.name, p.index.IsLevel(c.name)
	}
	return out, nil
}

// locate adds the column, the row group and the page to an error.
func (p *parquetFile) locate(err error, group int, t source.Target) error {
	in := &pageError{page: -1}
	errors.As(err, &in)
	prefix := ""
	if in.page == 0 {
		prefix = "its dictionary "
	}
	var e *loaderr.SourceError
	if !errors.As(err, &e) {
		if errors.Is(err, parallel.ErrFault) {
			return err
		}
		reason := "cannot be decoded: " + loaderr.DecoderText(err)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "ends early"
		}
		e = &loaderr.SourceError{Reason: reason, Hint: loaderr.HintDamaged}
	}
	e.Path, e.Column = p.name, t.Name
	if e.Row == 0 {
		e.Group, e.Page, e.Reason = group+1, max(0, in.page), prefix+e.Reason
	}
	return e
}

// Magic begins and ends every Parquet file whose footer is not encrypted.
const Magic = "PAR1"

// encryptedMagic begins and ends a file whose footer is encrypted.
const encryptedMagic = "PARE"

// hintEncrypted is the hint for an encrypted file or column.
const hintEncrypted = "read it with its keys, as pyarrow does, and write it without encryption"

// Is reports whether the first bytes of a file are those of a Parquet file, encrypted or not.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(Magic)) || bytes.HasPrefix(head, []byte(encryptedMagic))
}
