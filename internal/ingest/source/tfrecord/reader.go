// Package tfrecord reads TFRecord files of tf.train.Example: a record is a row, a feature is a
// column.
//
// [Open] reads the whole file, to check all records and to find their features.
// [source.Reader.ReadRows] reads it again to decode the wanted features. The package parses the
// protobuf messages itself.
//
// # Caveats
//
// All records must have the same list type and the same number of values for a feature. A feature
// that is absent or has an empty list is a missing value. tf.train.SequenceExample is not
// supported.
package tfrecord

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// Sizes of the parts of a record around its data. The header is the length of the data and a
// checksum of the length. The trailer is a checksum of the data
// (tensorflow/core/lib/io/record_writer.h).
const (
	recordHeaderBytes  = 12
	recordTrailerBytes = 4
)

// maxFeatures is the largest number of features in a file. It limits the memory for them.
const maxFeatures = 1 << 14

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedCRC returns the masked CRC-32C checksum of TFRecord.
func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// Is reports whether a file begins with a record's length and its checksum.
func Is(prefix []byte) bool {
	return len(prefix) >= recordHeaderBytes &&
		binary.LittleEndian.Uint32(prefix[8:]) == maskedCRC(prefix[:8])
}

// file is the reader of a TFRecord file.
type file struct {
	source.Settings
	file     *files.File
	name     string
	size     int64 // bytes
	spans    []source.Span
	count    int64                 // number of records
	features map[string]*tfFeature // by name
	names    []string              // of the features, sorted
}

// tfFeature is the type of a feature, merged from the records of a file.
type tfFeature struct {
	list     listKind
	row      int64                // row of the record that determines list and width
	width    int64                // number of values in that record; 0 if all lists are empty
	conflict *loaderr.SourceError // set if another record has another list or width
}

// Open returns a reader of a TFRecord file. It checks every record and finds the features of all
// records.
func Open(path string, f *files.File, settings source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	t := &file{
		Settings: settings, file: f, name: path, size: st.Size(),
		features: map[string]*tfFeature{},
	}
	if err := t.readSpans(); err != nil {
		return nil, err
	}
	if err := t.collectFeatures(); err != nil {
		return nil, err
	}
	t.names = slices.Sorted(maps.Keys(t.features))
	if len(t.names) == 0 {
		return nil, &loaderr.SourceError{Path: path, Reason: "its records have no features"}
	}
	return t, nil
}

// readSpans divides the file into spans of whole records, and compares each record with its
// checksums.
func (t *file) readSpans() error {
	r := bufio.NewReaderSize(io.NewSectionReader(t.file, 0, t.size), files.BlockBytes)
	var record []byte
	head := make([]byte, recordHeaderBytes)
	for at := int64(0); at < t.size; {
		damaged := func(reason string) error {
			return &loaderr.SourceError{
				Path: t.name, Row: t.count + 1,
				Reason: fmt.Sprintf("the record at byte %d %s", at, reason),
				Hint:   loaderr.HintDamaged,
			}
		}
		if t.size-at < recordHeaderBytes+recordTrailerBytes {
			return damaged("is cut off")
		}
		if _, err := io.ReadFull(r, head); err != nil {
			return t.readError(err)
		}
		if !Is(head) {
			return damaged("has a length that is not what its checksum says")
		}
		length := binary.LittleEndian.Uint64(head)
		if length > uint64(t.size-at-recordHeaderBytes-recordTrailerBytes) {
			return damaged("is cut off")
		}
		if length > source.MaxRecordBytes {
			return damaged(fmt.Sprintf("takes %d bytes, at most %d", length, source.MaxRecordBytes))
		}
		record = slices.Grow(record[:0], int(length)+recordTrailerBytes)[:length+recordTrailerBytes]
		if _, err := io.ReadFull(r, record); err != nil {
			return t.readError(err)
		}
		if binary.LittleEndian.Uint32(record[length:]) != maskedCRC(record[:length]) {
			return damaged("is not what its checksum says")
		}
		if n := len(t.spans); n == 0 || at-t.spans[n-1].Begin >= t.BlockBytes {
			t.spans = append(t.spans, source.Span{Begin: at, Row0: t.count})
		}
		at += recordHeaderBytes + int64(length) + recordTrailerBytes
		s := &t.spans[len(t.spans)-1]
		s.End, s.Rows = at, s.Rows+1
		t.count++
	}
	return nil
}

// readError returns the error for a read that failed with err. An early end means that the file
// became shorter.
func (t *file) readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &loaderr.SourceError{
			Path: t.name, Reason: "the file became shorter while it was loaded",
			Hint: loaderr.HintChanged,
		}
	}
	return files.AsSourceError(t.name, err)
}

// records calls f with each feature of each record of a span, and done after each record. Rows
// count from 0.
func (t *file) records(s source.Span, f func(row int64, x feature) error,
	done func(row int64) error) error {
	buf := make([]byte, s.End-s.Begin)
	if _, err := t.file.ReadAt(buf, s.Begin); err != nil {
		return t.readError(err)
	}
	for row := s.Row0; row < s.Row0+s.Rows; row++ {
		const around = recordHeaderBytes + recordTrailerBytes
		if len(buf) < around || binary.LittleEndian.Uint64(buf) > uint64(len(buf)-around) {
			return &loaderr.SourceError{
				Path: t.name, Reason: "the file was changed while it was loaded",
				Hint: loaderr.HintChanged,
			}
		}
		length := binary.LittleEndian.Uint64(buf)
		record := buf[recordHeaderBytes:][:length]
		err := parseExample(record, func(x feature) error { return f(row, x) })
		if errors.Is(err, errProto) || errors.Is(err, errSequence) {
			err = &loaderr.SourceError{
				Path: t.name, Row: row + 1, Reason: "the record " + err.Error(),
				Hint: "only records of tf.train.Example are read",
			}
		}
		if err == nil {
			err = done(row)
		}
		if err != nil {
			return err
		}
		buf = buf[recordHeaderBytes+length+recordTrailerBytes:]
	}
	return nil
}

func (t *file) Path() string     { return t.name }
func (t *file) Rows() int64      { return t.count }
func (t *file) Names() []string  { return t.names }
func (t *file) Line(int64) int64 { return 0 }
func (t *file) Close() error     { return t.file.Close() }

// Describe returns the types of the wanted columns. It returns an error if the records have
// different types or numbers of values for a feature.
func (t *file) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		name := t.names[x.Index]
		f := t.features[name]
		if f.conflict != nil {
			e := *f.conflict
			e.Column = name
			return nil, &e
		}
		c := column.Column{Name: name, Kind: map[listKind]column.Kind{
			bytesList: column.KindText, floatList: column.KindFloat32, int64List: column.KindInt64,
		}[f.list]}
		if c.Width = f.width; f.width <= 1 {
			c.Width = 0
		}
		if c.Width > 0 && c.Kind == column.KindText {
			return nil, &loaderr.SourceError{
				Column: name, Row: f.row + 1,
				Reason: fmt.Sprintf("has %d texts, want one in each record", f.width),
				Hint:   "leave the feature out with `columns`",
			}
		}
		out[i] = c
	}
	return out, nil
}

// bufferedRowBytes is the size of the rows, in bytes, from which on they are written without a
// buffer. Every worker has a buffer of each column, which takes 2 MiB if rows are this large, and
// such writes are large enough without one.
const bufferedRowBytes = 64 << 10

// ReadRows decodes the spans in parallel.
func (t *file) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	targetIndex := map[string]int{}
	for i, x := range to {
		targetIndex[t.names[x.Index]] = i
	}
	return parallel.For(ctx, t.Workers, len(t.spans), t.name, func(_, i int) error {
		s := t.spans[i]
		var buffers rowBuffers
		to := slices.Clone(to)
		for i := range to {
			if to[i].Width*to[i].Dest.DType.Size() < bufferedRowBytes {
				to[i].Dest.ColumnWriter = to[i].Dest.Buffered()
			}
		}
		missing := make([]bool, len(to))
		resetMissing := func() { copy(missing, slices.Repeat([]bool{true}, len(to))) }
		resetMissing()
		err := t.records(s, func(row int64, x feature) error {
			i, wanted := targetIndex[string(x.name)]
			if !wanted {
				return nil
			}
			n, err := x.count()
			if err != nil || n == 0 {
				return err
			}
			if f := t.features[string(x.name)]; n != f.width || x.list != f.list {
				return &loaderr.SourceError{
					Path: t.name, Reason: "the file was changed while it was loaded",
					Hint: loaderr.HintChanged,
				}
			}
			missing[i] = false
			return locate(x.write(to[i], row, &buffers), to[i].Name, row)
		}, func(row int64) error {
			for i, isMissing := range missing {
				if isMissing && !(to[i].Role == layout.RoleValue &&
					column.WriteMissing(to[i].Dest, to[i].Row0+row, 1)) {
					return to[i].MissingError(row + 1)
				}
			}
			resetMissing()
			return nil
		})
		for _, x := range to {
			x.Dest.Close()
		}
		m.Rows.Add(s.Rows)
		m.Bytes.Add(s.End - s.Begin)
		return err
	})
}

// locate adds the column and the row (from 0) of a value to an error.
func locate(err error, name string, row int64) error {
	if err == nil {
		return nil
	}
	e := (*loaderr.SourceError)(nil)
	if !errors.As(err, &e) {
		e = &loaderr.SourceError{Reason: err.Error()}
	}
	e.Column, e.Row = name, row+1
	return e
}
