package arrow

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// streamReader reads an Arrow IPC stream. A stream from a connection is first copied to an unlinked
// file, because the number of rows must be known before the result is laid out.
type streamReader struct {
	file              *files.File
	name              string         // path of the source, "" for a connection
	begin             int64          // file offset of the messages
	leadingSchema     []byte         // schema message that the file lacks, else nil
	segments          []segment      // places of the messages if they are not contiguous
	bytes             int64          // length of all messages
	footer            *messageBlocks // what the footer of a file lists, nil for a stream
	footerMessage     []byte         // the footer's schema as a message
	found             messageBlocks
	batchShape        arrowmeta.Shape           // arrays and buffers of a record batch
	dictionaryShapes  map[int64]arrowmeta.Shape // of a dictionary batch, by dictionary id
	columns           []arrowmeta.Column        // of a record batch
	dictionaryColumns map[int64]string          // name of a dictionary's column, by dictionary id
	maxBatchBytes     int64                     // largest uncompressed batch, 0 for no limit
	rows              int64
	schema            *arrow.Schema
	index             source.PandasIndex
	isNamed           func(column string) bool // see source.Settings
	fields            []int                    // of the schema, by column of the reader
	workers           int
	dir               string        // the job's directory
	zstd              *zstd.Decoder // nil before the first use
	lz4               *lz4.Reader   // nil before the first use
}

// OpenStream copies the stream to a file in dir and checks its messages. isNamed is that of
// [source.Settings].
func OpenStream(conn io.Reader, dir string, workers int, isNamed func(column string) bool,
	m *progress.Meter) (source.Reader, error) {
	f, err := os.CreateTemp(dir, "stream")
	if err != nil {
		return nil, err
	}
	s := &streamReader{file: files.NewFile(f), workers: workers, dir: dir, isNamed: isNamed}
	if err = os.Remove(f.Name()); err == nil {
		err = s.spool(conn, f, dir, m)
	}
	if err == nil {
		err = parallel.Guard("", s.scanMessages)
	}
	if err == nil {
		err = parallel.Guard("", s.readSchema)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// spool copies the stream to f until the client closes its side.
func (s *streamReader) spool(
	conn io.Reader, f *os.File, dir string, m *progress.Meter,
) error {
	buf := make([]byte, files.BlockBytes)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				if !files.IsFull(err) {
					return fmt.Errorf("store the stream: %w", err)
				}
				return &loaderr.NoSpaceError{
					Dir:  dir,
					Need: s.bytes + int64(n),
					Have: max(0, files.FreeSpace(dir)),
					Text: err.Error(),
				}
			}
			s.bytes += int64(n)
			m.Bytes.Store(s.bytes)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &loaderr.SourceError{Reason: "the connection failed: " + err.Error()}
		}
	}
}

// open returns Arrow's reader of the messages. It allocates from mem.
func (s *streamReader) open(mem *batchMemory) (*ipc.Reader, error) {
	r, err := ipc.NewReader(s.data(), ipc.WithAllocator(mem))
	if err != nil {
		return nil, s.schemaError(err)
	}
	return r, nil
}

// invalidType matches Arrow v15's error for a field whose type is invalid. checkTypes has refused
// the types that it does not know.
var invalidType = regexp.MustCompile(`could not convert field (\d+) from flatbuf`)

// schemaError names the column of a schema that cannot be read. The error also occurs for columns
// that are not loaded, because batches cannot be decoded without their type.
func (s *streamReader) schemaError(err error) error {
	m := invalidType.FindStringSubmatch(err.Error())
	if m == nil {
		return &loaderr.SourceError{
			Reason: "the Arrow stream cannot be read: " + loaderr.DecoderText(err),
			Hint:   s.hint(""),
		}
	}
	e := &loaderr.SourceError{
		Reason: "has a type that Arrow does not have, such as an integer of 7 bits",
		Hint:   s.hint("write the column with a type of Arrow"),
	}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(s.columns) {
		e.Column = s.columns[i].Name
	}
	return e
}

// readSchema reads the schema and compares it with the footer.
func (s *streamReader) readSchema() error {
	mem := &batchMemory{dir: s.dir}
	defer mem.close()
	r, err := s.open(mem)
	if err != nil {
		return err
	}
	defer r.Release()
	s.schema = r.Schema()
	if err := s.findColumns(); err != nil {
		return err
	}
	if s.rows == 0 {
		e := &loaderr.SourceError{Reason: "the Arrow stream has no rows", Hint: loaderr.HintEmpty}
		if s.name == "" {
			e.Hint = "send at least one row"
		}
		return e
	}
	return s.checkFooter(s.found)
}

// findColumns finds the fields that are columns, in the order of a frame of pandas.
func (s *streamReader) findColumns() (err error) {
	metadata, _ := s.schema.Metadata().GetValue(source.PandasKey)
	s.index = source.ParsePandasIndex(metadata)
	fields := make([]column.Column, s.schema.NumFields())
	for i, f := range s.schema.Fields() {
		fields[i], _ = columnOf(f.Type) // Describe returns the error
		fields[i].Name = s.nameOf(i)
	}
	s.fields, err = s.index.Columns(fields, s.isNamed)
	return err
}

func (s *streamReader) Path() string     { return s.name }
func (s *streamReader) Rows() int64      { return s.rows }
func (s *streamReader) Line(int64) int64 { return 0 }
func (s *streamReader) Size() int64      { return s.bytes }
func (s *streamReader) Close() error     { return s.file.Close() }

func (s *streamReader) Names() []string {
	out := make([]string, len(s.fields))
	for i, field := range s.fields {
		out[i] = s.nameOf(field)
	}
	return out
}

// nameOf returns the name of the column of a field.
func (s *streamReader) nameOf(field int) string {
	return column.NameAt(s.schema.Field(field).Name, field)
}

// Describe returns the types of the wanted columns. It returns an error for a type that cannot be
// loaded.
func (s *streamReader) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		f, name := s.schema.Field(s.fields[x.Index]), s.nameOf(s.fields[x.Index])
		c, err := columnOf(f.Type)
		if err != nil {
			e := &loaderr.SourceError{
				Column: name,
				Reason: err.Error(),
				Hint:   "leave the column out, or cast it before it is sent",
			}
			if s.name != "" {
				e.Hint = "leave the column out with `columns`, or cast it and write the file again"
			}
			if r := (*loaderr.HintedError)(nil); errors.As(err, &r) {
				e.Hint = r.Hint
			}
			return nil, e
		}
		c.Name, c.NamedOnly = name, s.index.IsLevel(name)
		out[i] = c
	}
	return out, nil
}
