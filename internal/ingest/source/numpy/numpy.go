// Package numpy reads .npy and .npz files.
//
// It parses the headers itself and reads the arrays with the reader of package put. A .npy file is
// one column named value, or one column per field. A .npz archive has a column per array, or per
// field of an array of records: name.field.
//
// # Caveats
//
// The number of rows is 0 until Describe, because only the wanted arrays must have the same length.
// Arrays of Python objects are never read, because unpickling can run any program.
package numpy

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
)

// numpyFile reads a .npy file, or the arrays of a .npz archive. It does not use sbinet/npyio, the
// only library for them: that supports neither float16 nor times nor records, and reads whole
// arrays into memory.
type numpyFile struct {
	file    *files.File
	name    string
	columns []npyColumn
	count   int64 // number of rows, set by Describe
	workers int
}

// npyName is the name of the column of a .npy file without fields. It is not derived from the file
// name, because all files of a load must have the same columns.
const npyName = "value"

// OpenNpy reads the header of a .npy file.
func OpenNpy(path string, f *files.File, settings source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	n := &numpyFile{file: f, name: path, workers: settings.Workers}
	open := func() (io.ReadCloser,
		error) {
		return io.NopCloser(io.NewSectionReader(f, 0, st.Size())), nil
	}
	return n, n.add(open, st.Size(), npyName, false)
}

// OpenNpz reads the headers of all arrays of a .npz archive. It returns nil for a zip archive of
// other files.
func OpenNpz(path string, f *files.File, settings source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	archive, err := zip.NewReader(f, st.Size())
	if err != nil {
		return nil, &loaderr.SourceError{
			Path: path, Reason: "cannot be read as a zip archive: " + err.Error(),
			Hint: loaderr.HintDamaged,
		}
	}
	for _, e := range archive.File {
		if !strings.HasSuffix(e.Name, ".npy") {
			return nil, nil
		}
	}
	if len(archive.File) == 0 {
		return nil, &loaderr.SourceError{Path: path, Reason: "holds no arrays"}
	}
	n := &numpyFile{file: f, name: path, workers: settings.Workers}
	var total uint64
	for _, e := range archive.File {
		name := strings.TrimSuffix(e.Name, ".npy")
		switch {
		case e.Flags&1 != 0:
			return nil, &loaderr.SourceError{
				Path: path, Column: name, Reason: "is encrypted, which is not read",
				Hint: "decrypt the archive, or write it again with np.savez",
			}
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return nil, &loaderr.SourceError{
				Path: path, Column: name,
				Reason: fmt.Sprintf(
					"is compressed by method %d, want np.savez or np.savez_compressed", e.Method),
			}
		}
		if limit := uint64(
			max(settings.Free, settings.Ratio*st.Size())); e.UncompressedSize64 > limit ||
			total+e.UncompressedSize64 > limit {
			return nil, &loaderr.SourceError{
				Path: path,
				Reason: fmt.Sprintf("would hold more than %d times its size of %d bytes",
					limit/uint64(st.Size()), st.Size()),
				Hint: "unzip it first if it is sound",
			}
		}
		total += e.UncompressedSize64
		if err := n.add(e.Open, int64(e.UncompressedSize64), name, true); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// add reads the header of one array and adds its columns. total is the number of bytes of the
// array's stream. archived is true for an array of a .npz archive.
func (n *numpyFile) add(open func() (io.ReadCloser, error), total int64, name string,
	archived bool) error {
	locate := func(err error) error {
		if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
			e.Path = n.name
			if archived && e.Column == "" {
				e.Column = name
			}
		}
		return err
	}
	r, err := open()
	if err != nil {
		return locate(unreadable(err))
	}
	defer r.Close()
	columns, err := readNpyHeader(r, total, name)
	if err != nil {
		return locate(err)
	}
	for _, c := range columns {
		if c.open = open; archived && c.recordBytes > 0 {
			c.Name = name + "." + c.Name
		}
		n.columns = append(n.columns, c)
	}
	return nil
}

// unreadable returns the error for an array whose bytes cannot be read because of err.
func unreadable(err error) error {
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return &loaderr.SourceError{
			Reason: "its values are not what their checksum says", Hint: loaderr.HintDamaged,
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &loaderr.SourceError{
			Reason: "is cut off: there are fewer bytes than its header says",
			Hint:   loaderr.HintDamaged,
		}
	}
	return &loaderr.SourceError{Reason: "cannot be read: " + err.Error(), Hint: loaderr.HintDamaged}
}

func (n *numpyFile) Path() string     { return n.name }
func (n *numpyFile) Rows() int64      { return n.count }
func (n *numpyFile) Line(int64) int64 { return 0 }
func (n *numpyFile) Close() error     { return n.file.Close() }

func (n *numpyFile) Names() []string {
	out := make([]string, len(n.columns))
	for i, c := range n.columns {
		out[i] = c.Name
	}
	return out
}

// Describe returns the types of the wanted columns. It returns an error if their numbers of rows
// differ; columns that are not wanted may have other lengths.
func (n *numpyFile) Describe(w []column.Want) ([]column.Column, error) {
	if len(w) == 0 {
		return nil, n.countRows()
	}
	out := make([]column.Column, len(w))
	for i, x := range w {
		c := n.columns[x.Index]
		if c.refusal != nil {
			e := *c.refusal
			e.Column = c.Name
			return nil, &e
		}
		first := n.columns[w[0].Index]
		if c.Shape[0] != first.Shape[0] {
			return nil, &loaderr.SourceError{
				Column: c.Name,
				Reason: fmt.Sprintf("has %s, column %q has %d",
					loaderr.Count(int(c.Shape[0]), "row"), first.Name, first.Shape[0]),
				Hint: "name the arrays that are wanted with `columns`",
			}
		}
		n.count = c.Shape[0]
		out[i] = c.Column.Describe()
	}
	return out, nil
}

// countRows sets the number of rows if no column is wanted, as in a load of partition columns
// alone. It returns an error if the arrays have different numbers of rows.
func (n *numpyFile) countRows() error {
	var loadable []column.Want
	for i, c := range n.columns {
		if c.refusal == nil {
			loadable = append(loadable, column.Want{Index: i})
		}
	}
	if len(loadable) == 0 {
		loadable = []column.Want{{}} // Describe returns why the first column cannot be loaded
	}
	_, err := n.Describe(loadable)
	return err
}

// ReadRows reads the columns in parallel. Each column opens its own stream of the array.
func (n *numpyFile) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	return parallel.For(ctx, n.workers, len(to), n.name, func(_, i int) error {
		c := n.columns[to[i].Index]
		err := c.read(to[i])
		if e := (*loaderr.SourceError)(nil); errors.As(err, &e) && e.Column == "" {
			e.Column = c.Name
		}
		m.Bytes.Add(c.Bytes)
		m.Rows.Add(n.count / int64(len(to)))
		return err
	})
}

// read reads one column, and then the stream to its end.
func (c *npyColumn) read(t source.Target) error {
	opened, err := c.open()
	if err != nil {
		return unreadable(err)
	}
	defer opened.Close()
	from := bufio.NewReaderSize(opened, 1<<16)
	values := &npyValues{from: from, column: c}
	err = values.skip(c.headerBytes)
	if err == nil {
		err = c.readValues(t, values)
	}
	if values.err == nil { // archive/zip checks the checksum at the end of the stream
		if rest, rerr := io.Copy(io.Discard, from); rerr != nil {
			values.err = rerr
		} else if rest > 0 && err == nil {
			err = &loaderr.SourceError{
				Reason: fmt.Sprintf("%d bytes follow its values", rest), Hint: loaderr.HintDamaged,
			}
		}
	}
	if values.err != nil {
		return unreadable(values.err)
	}
	return err
}

// readValues reads the values and writes them to the target.
func (c *npyColumn) readValues(t source.Target, values *npyValues) error {
	if c.textType != 0 {
		return c.readTexts(t, values)
	}
	targets := []source.Target{t}
	if c.columnMajor {
		targets = nil
		for i := range t.Width {
			feature := t
			feature.Dest, feature.Width = t.Dest.Feature(i), 0
			targets = append(targets, feature)
		}
	}
	if err := put.ReadValues(values, c.Column, targets...); err != nil {
		return err
	}
	if c.factor > 1 && t.Dest.DType.HasUnit() {
		if row, value := column.Multiply(t.Dest, t.Row0, c.Shape[0], c.factor); row >= 0 {
			return &loaderr.SourceError{
				Row: row - t.Row0 + 1, Text: fmt.Sprint(value),
				Reason: fmt.Sprintf("times %d %s does not fit 64 bits of %s", c.factor,
					c.Unit, c.Unit),
				Hint: loaderr.HintDropRows,
			}
		}
	}
	return nil
}
