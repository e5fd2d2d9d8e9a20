package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowStream reads an Arrow IPC stream that comes over a connection. It is spooled to a file without a name
// first: its rows must be known before the result is laid out.
type arrowStream struct {
	file    *os.File
	bytes   int64
	count   int64
	schema  *arrow.Schema
	workers int
}

// openArrowStream spools the stream and walks over its messages.
func openArrowStream(conn io.Reader, dir string, workers int, m *meter) (reader, error) {
	f, err := os.CreateTemp(dir, "stream")
	if err != nil {
		return nil, err
	}
	s := &arrowStream{file: f, workers: workers}
	if err = os.Remove(f.Name()); err == nil {
		err = s.spool(conn, dir, m)
	}
	if err == nil {
		err = guard("", s.walk)
	}
	if err == nil {
		err = guard("", s.readSchema)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// spool copies the stream until the sender closes its side.
func (s *arrowStream) spool(conn io.Reader, dir string, m *meter) error {
	buf := make([]byte, blockBytes)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			if _, err := s.file.Write(buf[:n]); err != nil {
				if !isFull(err) {
					return fmt.Errorf("keep the stream: %w", err)
				}
				return &NoSpaceError{Dir: dir, Need: s.bytes + int64(n), Have: available(dir), Text: err.Error()}
			}
			s.bytes += int64(n)
			m.bytes.Store(s.bytes)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &SourceError{Reason: "the connection failed: " + err.Error()}
		}
	}
}

// Slots of the flatbuffer tables of Arrow's Message.fbs, as vtable offsets, and the types of messages.
const (
	messageType   = 6
	messageHeader = 8
	messageBody   = 10
	batchLength   = 4

	typeRecordBatch = 3
)

// walk counts the rows and checks that the stream has its end mark. Arrow v15 takes a stream that stops between two
// messages for one that has ended.
func (s *arrowStream) walk() error {
	if s.bytes == 0 {
		return &SourceError{Reason: "nothing was sent, want an Arrow stream"}
	}
	early := &SourceError{
		Reason: fmt.Sprintf("the Arrow stream ended after %d bytes without its end mark", s.bytes),
		Hint:   "close the stream's writer before the connection; send IPC streams, not files",
	}
	prefix := make([]byte, 8)
	for at := int64(0); ; {
		if at+8 > s.bytes {
			return early
		}
		if _, err := s.file.ReadAt(prefix, at); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(prefix) != 0xffffffff {
			if at == 0 && string(prefix[:6]) == "ARROW1" {
				return &SourceError{Reason: "is an Arrow file, want an Arrow IPC stream", Hint: "write it with new_stream, write_ipc_stream or the like"}
			}
			return &SourceError{Reason: fmt.Sprintf("byte %d is no beginning of an Arrow message", at), Hint: "send an Arrow IPC stream"}
		}
		length := int64(int32(binary.LittleEndian.Uint32(prefix[4:])))
		at += 8
		if length == 0 {
			return nil
		}
		if length < 8 || length > s.bytes-at {
			return early
		}
		meta := make([]byte, length)
		if _, err := s.file.ReadAt(meta, at); err != nil {
			return err
		}
		message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		body := message.GetInt64Slot(messageBody, 0)
		if at += length; body < 0 || body > s.bytes-at {
			return early
		}
		if at += body; message.GetByteSlot(messageType, 0) != typeRecordBatch {
			continue
		}
		var batch flatbuffers.Table
		message.Union(&batch, flatbuffers.UOffsetT(message.Offset(messageHeader)))
		rows := batch.GetInt64Slot(batchLength, 0)
		if rows < 0 || rows > maxRows-s.count {
			return &SourceError{Reason: fmt.Sprintf("a batch of %d rows", rows)}
		}
		s.count += rows
	}
}

func (s *arrowStream) open() (*ipc.Reader, error) {
	r, err := ipc.NewReader(io.NewSectionReader(s.file, 0, s.bytes))
	if err != nil {
		return nil, &SourceError{Reason: "the Arrow stream cannot be read: " + err.Error()}
	}
	return r, nil
}

func (s *arrowStream) readSchema() error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Release()
	s.schema = r.Schema()
	if s.count == 0 {
		return &SourceError{Reason: "the Arrow stream has no rows"}
	}
	return nil
}

func (s *arrowStream) path() string     { return "" }
func (s *arrowStream) rows() int64      { return s.count }
func (s *arrowStream) line(int64) int64 { return 0 }
func (s *arrowStream) size() int64      { return s.bytes }
func (s *arrowStream) close() error     { return s.file.Close() }

func (s *arrowStream) names() []string {
	var out []string
	for _, f := range s.schema.Fields() {
		out = append(out, f.Name)
	}
	return out
}

func (s *arrowStream) describe(w []want) ([]column, error) {
	out := make([]column, len(w))
	for i, x := range w {
		f := s.schema.Field(x.index)
		c, err := arrowColumn(f.Type)
		if err != nil {
			return nil, &SourceError{Column: f.Name, Reason: err.Error(), Hint: "leave the column out, or cast it before it is sent"}
		}
		c.name = f.Name
		out[i] = c
	}
	return out, nil
}

// fill decodes batch by batch, the columns of each in parallel.
func (s *arrowStream) fill(ctx context.Context, to []target, m *meter) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Release()
	row := int64(0)
	for batch := 1; r.Next(); batch++ {
		b := r.Record()
		if b.NumRows() > s.count-row {
			return &SourceError{Group: batch, Reason: "more rows than were announced"}
		}
		err := parallel(ctx, s.workers, len(to), "", func(_, i int) error {
			a := arrowBatch{target: to[i], row: row}
			err := a.write(b.Column(to[i].index))
			if e := (*SourceError)(nil); err != nil && !errors.As(err, &e) {
				err = &SourceError{Column: to[i].name, Group: batch, Reason: err.Error()}
			}
			return err
		})
		if err != nil {
			return err
		}
		row += b.NumRows()
		m.rows.Store(row)
		m.bytes.Store(int64(float64(s.bytes) * float64(row) / float64(s.count)))
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return &SourceError{Row: row + 1, Reason: "the Arrow stream cannot be decoded: " + err.Error()}
	}
	if row != s.count {
		return &SourceError{Reason: fmt.Sprintf("the Arrow stream has %d rows, its messages say %d", row, s.count)}
	}
	return nil
}
