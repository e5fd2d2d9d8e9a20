// Package arrow reads Arrow files and streams, and the streams of a put.
//
// Arrow v15 trusts what it reads: metadata, frames of compressed buffers and counts are checked against
// the format before it sees them.
package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/cached"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// arrowStream reads an Arrow IPC stream. One that comes over a connection is spooled to a file without a name
// first: its rows must be known before the result is laid out.
type arrowStream struct {
	file    cached.File
	name    string       // of a source, "" for a connection
	begin   int64        // of the messages in the file
	lead    []byte       // what the messages lack at their beginning
	pieces  []piece      // where they stand, if not one after the other from begin on
	bytes   int64        // of the messages
	listed  *arrowBlocks // what a file's footer lists
	said    []byte       // a message of the schema that stands there
	found   arrowBlocks
	shape   arrowmeta.Shape           // of a batch
	words   map[int64]arrowmeta.Shape // of the dictionaries, by number
	columns []arrowmeta.Column        // of a batch
	wordsOf map[int64]string          // the columns that the dictionaries are of
	most    int64                     // bytes that a compressed batch may hold, 0 for any number
	count   int64
	schema  *arrow.Schema
	workers int
	dir     string        // the job's directory
	zstd    *zstd.Decoder // made when it is needed
	lz4     *lz4.Reader   // made when it is needed
}

// OpenStream spools the stream and walks over its messages.
func OpenStream(conn io.Reader, dir string, workers int, m *progress.Meter) (source.Reader, error) {
	f, err := os.CreateTemp(dir, "stream")
	if err != nil {
		return nil, err
	}
	s := &arrowStream{file: cached.File{File: f}, workers: workers, dir: dir}
	if err = os.Remove(f.Name()); err == nil {
		err = s.spool(conn, dir, m)
	}
	if err == nil {
		err = parallel.Guard("", s.walk)
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

// spool copies the stream until the sender closes its side.
func (s *arrowStream) spool(conn io.Reader, dir string, m *progress.Meter) error {
	buf := make([]byte, files.BlockBytes)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			if _, err := s.file.Write(buf[:n]); err != nil {
				if !files.IsFull(err) {
					return fmt.Errorf("keep the stream: %w", err)
				}
				return &loaderr.NoSpaceError{Dir: dir, Need: s.bytes + int64(n), Have: max(0, files.FreeSpace(dir)), Text: err.Error()}
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

// Slots of the flatbuffer tables of Arrow's Message.fbs, as vtable offsets, and the types of messages.
const (
	messageVersion = 4
	messageBody    = 10
	batchLength    = 4

	batchCompression = 10

	dictionaryData = 6

	versionV4 = 3
	versionV5 = 4

	typeDictionaryBatch = 2
	typeRecordBatch     = 3
)

// walk counts the rows and checks that the stream has its end mark. Arrow v15 takes a stream that stops between two
// messages for one that has ended.
func (s *arrowStream) walk() error {
	if s.bytes == 0 {
		return &loaderr.SourceError{Reason: "nothing was sent, want an Arrow stream"}
	}
	early := &loaderr.SourceError{
		Reason: fmt.Sprintf("the Arrow stream ended after %d bytes without its end mark", s.bytes),
		Hint:   "close the stream's writer before the connection; send IPC streams, not files",
	}
	if s.name != "" {
		early.Hint = "close the stream's writer, or copy the file again"
	}
	prefix := make([]byte, 8)
	for at := int64(0); ; {
		if at == s.bytes && s.listed != nil { // a footer says the same as an end mark
			return nil
		}
		if at+8 > s.bytes {
			return early
		}
		if _, err := s.data().ReadAt(prefix, at); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(prefix) != 0xffffffff {
			if at == 0 && string(prefix[:6]) == "ARROW1" {
				return &loaderr.SourceError{Reason: "is an Arrow file, want an Arrow IPC stream", Hint: "write it with new_stream, write_ipc_stream or the like"}
			}
			return s.frameError(at)
		}
		block := arrowBlock{at: s.begin + at}
		length := int64(int32(binary.LittleEndian.Uint32(prefix[4:])))
		at += 8
		if length == 0 && at < s.bytes && s.listed == nil { // as of streams that were joined, of which Arrow reads the first
			return &loaderr.SourceError{
				Reason: fmt.Sprintf("%d other bytes follow the end mark of the Arrow stream", s.bytes-at),
				Hint:   "write one stream with all record batches, or each into a file of its own",
			}
		}
		if length == 0 {
			return nil
		}
		if length < 8 || length > s.bytes-at {
			return early
		}
		meta := make([]byte, length)
		if _, err := s.data().ReadAt(meta, at); err != nil {
			return err
		}
		if err := source.CheckArrowMetadata(meta, source.FlatMessage); err != nil {
			return err
		}
		message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		if v := message.GetInt16Slot(messageVersion, 0); v != versionV4 && v != versionV5 {
			return &loaderr.SourceError{Reason: fmt.Sprintf("has metadata of version %d, want 4 or 5", v+1), Hint: s.hint("write it with another version of Arrow")}
		}
		body := message.GetInt64Slot(messageBody, 0)
		if at += length; body < 0 || body > s.bytes-at {
			return early
		}
		block.meta, block.body = 8+length, body
		at += body
		var batch flatbuffers.Table
		message.Union(&batch, flatbuffers.UOffsetT(message.Offset(arrowmeta.MessageHeader)))
		switch kind := message.GetByteSlot(arrowmeta.MessageType, 0); kind {
		case arrowmeta.TypeSchema:
			if err := checkOrder(batch); err != nil {
				return err
			}
			s.words = map[int64]arrowmeta.Shape{}
			s.shape = arrowmeta.ShapeOf(batch, arrowmeta.SchemaFields, s.words)
			s.columns, s.wordsOf = arrowmeta.ColumnsOf(batch)
			s.found.numbers = arrowmeta.DictionaryNumbers(batch, arrowmeta.SchemaFields)
			continue
		case typeDictionaryBatch:
			s.found.dictionaries = append(s.found.dictionaries, block)
			words := flatbuffers.Table{Bytes: batch.Bytes, Pos: batch.Indirect(batch.Pos + flatbuffers.UOffsetT(batch.Offset(dictionaryData)))}
			number := batch.GetInt64Slot(arrowmeta.DictionaryID, 0)
			if err := s.checkBuffers(words, s.words[number], nil, at-body, body); err != nil {
				return inColumn(err, s.wordsOf[number], 0)
			}
			continue
		case typeRecordBatch:
		default:
			return &loaderr.SourceError{Reason: fmt.Sprintf("has a message of type %d at byte %d, want a schema, a dictionary or rows", kind, block.at), Hint: s.hint("send an Arrow IPC stream of one table")}
		}
		rows := batch.GetInt64Slot(batchLength, 0)
		if rows < 0 || rows > column.MaxRows-s.count {
			return &loaderr.SourceError{Batch: len(s.found.batches) + 1, Reason: fmt.Sprintf("has %d rows", rows), Hint: s.hint("")}
		}
		s.count += rows
		s.found.batches = append(s.found.batches, block)
		if err := s.checkBuffers(batch, s.shape, s.columns, at-body, body); err != nil {
			return inColumn(err, "", len(s.found.batches))
		}
	}
}

// hint is one for a connection, or that a source is damaged.
func (s *arrowStream) hint(connection string) string {
	if s.name == "" {
		return connection
	}
	return loaderr.HintDamaged
}

func (s *arrowStream) open(mem *batchMemory) (*ipc.Reader, error) {
	r, err := ipc.NewReader(s.data(), ipc.WithAllocator(mem))
	if err != nil {
		return nil, s.schemaError(err)
	}
	return r, nil
}

// unconverted is how Arrow v15 says which field of a schema has a type that it does not know, such as decimal32, or that is none.
var unconverted = regexp.MustCompile(`could not convert field (\d+) from flatbuf: (?:arrow/ipc: could not convert field type: )?(.*)`)

// schemaError names the column of a schema that cannot be read, also where it is not wanted: the batches cannot be read without its type.
func (s *arrowStream) schemaError(err error) error {
	m := unconverted.FindStringSubmatch(err.Error())
	if m == nil {
		return &loaderr.SourceError{Reason: "the Arrow stream cannot be read: " + err.Error(), Hint: s.hint("")}
	}
	e := &loaderr.SourceError{Reason: "has a type that is not read: " + m[2], Hint: "cast the column before it is written, as decimals to decimal128"}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(s.columns) {
		e.Column = s.columns[i].Name
	}
	return e
}

func (s *arrowStream) readSchema() error {
	mem := &batchMemory{dir: s.dir}
	defer mem.close()
	r, err := s.open(mem)
	if err != nil {
		return err
	}
	defer r.Release()
	s.schema = r.Schema()
	if s.count == 0 {
		return &loaderr.SourceError{Reason: "the Arrow stream has no rows"}
	}
	return s.checkFooter(s.found)
}

func (s *arrowStream) Path() string     { return s.name }
func (s *arrowStream) Rows() int64      { return s.count }
func (s *arrowStream) Line(int64) int64 { return 0 }
func (s *arrowStream) Size() int64      { return s.bytes }
func (s *arrowStream) Close() error     { return s.file.Close() }

func (s *arrowStream) Names() []string {
	var out []string
	for _, f := range s.schema.Fields() {
		out = append(out, f.Name)
	}
	return out
}

func (s *arrowStream) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		f := s.schema.Field(x.Index)
		c, err := arrowColumn(f.Type)
		if err != nil {
			e := &loaderr.SourceError{Column: f.Name, Reason: err.Error(), Hint: "leave the column out, or cast it before it is sent"}
			if r := (*loaderr.HintedError)(nil); errors.As(err, &r) {
				e.Hint = r.Hint
			}
			return nil, e
		}
		c.Name = f.Name
		out[i] = c
	}
	return out, nil
}

// sliceRows is how many rows of a batch are converted at once.
const sliceRows = 1 << 18

// fill decodes batch by batch, the columns of each in parallel.
func (s *arrowStream) Fill(ctx context.Context, to []source.Target, m *progress.Meter) error {
	mem := &batchMemory{dir: s.dir}
	defer mem.close()
	r, err := s.open(mem)
	if err != nil {
		return err
	}
	defer r.Release()
	row, batch := int64(0), 1
	for ; r.Next(); batch++ {
		b := r.Record()
		if b.NumRows() > s.count-row {
			return &loaderr.SourceError{Batch: batch, Reason: "more rows than were announced"}
		}
		err := parallel.For(ctx, s.workers, len(to), "", func(_, i int) error {
			return inColumn(parallel.Guard("", func() error { return s.checked(ctx, b, to[i], row) }), to[i].Name, batch)
		})
		if err != nil {
			return err
		}
		row += b.NumRows()
		m.Rows.Add(b.NumRows())
		m.Bytes.Add(int64(float64(s.bytes) * float64(b.NumRows()) / float64(s.count)))
	}
	if mem.err != nil {
		return mem.err
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return &loaderr.SourceError{Batch: batch, Reason: "the Arrow stream cannot be decoded: " + err.Error(), Hint: s.hint("")}
	}
	if row != s.count {
		return &loaderr.SourceError{Reason: fmt.Sprintf("the Arrow stream has %d rows, its messages say %d", row, s.count)}
	}
	return nil
}

// inColumn says in which column and record batch a fault is, where it does not say so itself. A row says more than its batch.
func inColumn(err error, column string, batch int) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
		if e.Column == "" {
			e.Column = column
		}
		if e.Row == 0 && e.Batch == 0 {
			e.Batch = batch
		}
	}
	return err
}

// checked writes a column of a batch, whose first row is that of the stream, if it is what it says.
func (s *arrowStream) checked(ctx context.Context, b arrow.Record, to source.Target, row int64) error {
	whole := b.Column(to.Index)
	if n := whole.Len(); int64(n) != b.NumRows() {
		return &loaderr.SourceError{Reason: fmt.Sprintf("has %d rows, its batch %d", n, b.NumRows()), Hint: s.hint("")}
	}
	if said, n := miscounted(whole); said != n {
		return &loaderr.SourceError{Reason: fmt.Sprintf("says that it has %s and has %d", loaderr.Count(said, "null"), n), Hint: s.hint("")}
	}
	if have, need := shortened(whole.Data()); have < need {
		return &loaderr.SourceError{Reason: fmt.Sprintf("has a buffer of %d bytes, its rows need %d", have, need), Hint: s.hint("")}
	}
	return s.column(ctx, whole, arrowBatch{Target: to, row: row})
}

// column writes one column of a batch, slice by slice.
func (s *arrowStream) column(ctx context.Context, whole arrow.Array, to arrowBatch) error {
	n, first := int64(whole.Len()), to.row
	for at := int64(0); at < n; at += sliceRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := array.NewSlice(whole, at, min(n, at+sliceRows))
		to.row = first + at
		err := to.write(part)
		part.Release()
		if e := (*loaderr.SourceError)(nil); err != nil && !errors.As(err, &e) {
			err = &loaderr.SourceError{Reason: err.Error()}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
