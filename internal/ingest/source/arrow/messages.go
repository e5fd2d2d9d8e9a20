package arrow

import (
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Slots of the flatbuffer tables of Arrow's Message.fbs, as vtable offsets, and types of messages.
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

// message is one message of a stream, whose metadata is checked.
type message struct {
	block  messageBlock
	table  flatbuffers.Table // the header: a schema, a dictionary batch or a record batch
	kind   byte              // of the header
	bodyAt int64             // offset of the body in the stream
	end    int64             // offset of the next message in the stream
}

// scanMessages checks every message, counts the rows, and requires the end-of-stream mark. Arrow
// v15 accepts a stream that stops between two messages.
func (s *streamReader) scanMessages() error {
	if s.bytes == 0 {
		return &loaderr.SourceError{Reason: "nothing was sent, want an Arrow stream",
			Hint: "send one, as pyarrow.ipc.new_stream writes it"}
	}
	for at := int64(0); ; {
		m, err := s.readMessage(at)
		if m == nil || err != nil {
			return err
		}
		switch m.kind {
		case arrowmeta.TypeSchema:
			err = s.addSchema(m.table)
		case typeDictionaryBatch:
			err = s.addDictionary(m)
		case typeRecordBatch:
			err = s.addBatch(m)
		default:
			err = &loaderr.SourceError{
				Reason: fmt.Sprintf(
					"has a message of type %d at byte %d, want a schema, a dictionary or rows",
					m.kind, m.block.at),
				Hint: s.hint("send an Arrow IPC stream of one table"),
			}
		}
		if err != nil {
			return err
		}
		at = m.end
	}
}

// readMessage reads and checks the metadata of the message at an offset of the stream. It returns
// nil at the end of the stream.
func (s *streamReader) readMessage(at int64) (*message, error) {
	if at == s.bytes && s.footer != nil { // a footer replaces the end mark
		return nil, nil
	}
	if at+8 > s.bytes {
		return nil, s.endedEarly()
	}
	prefix := make([]byte, 8)
	if _, err := s.data().ReadAt(prefix, at); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(prefix) != 0xffffffff {
		if at == 0 && string(prefix[:6]) == "ARROW1" {
			return nil, &loaderr.SourceError{
				Reason: "is an Arrow file, want an Arrow IPC stream",
				Hint:   "write it with new_stream, write_ipc_stream or the like",
			}
		}
		return nil, s.messageError(at)
	}
	m := &message{block: messageBlock{at: s.begin + at}}
	length := int64(int32(binary.LittleEndian.Uint32(prefix[4:])))
	at += 8
	// Concatenated streams: Arrow would read only the first.
	if length == 0 && at < s.bytes && s.footer == nil {
		return nil, &loaderr.SourceError{
			Reason: fmt.Sprintf(
				"%d other bytes follow the end mark of the Arrow stream", s.bytes-at),
			Hint: "write one stream with all record batches, or each into a file of its own",
		}
	}
	if length == 0 {
		return nil, nil
	}
	if length < 8 || length > s.bytes-at {
		return nil, s.endedEarly()
	}
	meta := make([]byte, length)
	if _, err := s.data().ReadAt(meta, at); err != nil {
		return nil, err
	}
	if err := checkMetadata(meta, arrowmeta.Message); err != nil {
		return nil, err
	}
	root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	if err := s.checkVersion(root.GetInt16Slot(messageVersion, 0)); err != nil {
		return nil, err
	}
	m.block.meta, m.block.body = 8+length, root.GetInt64Slot(messageBody, 0)
	m.bodyAt = at + length
	if n := m.block.body; n < 0 || n > s.bytes-m.bodyAt {
		return nil, s.endedEarly()
	}
	m.end = m.bodyAt + m.block.body
	root.Union(&m.table, flatbuffers.UOffsetT(root.Offset(arrowmeta.MessageHeader)))
	m.kind = root.GetByteSlot(arrowmeta.MessageType, 0)
	return m, nil
}

// endedEarly returns the error for a stream without its end mark.
func (s *streamReader) endedEarly() error {
	hint := "close the stream's writer, or copy the file again"
	if s.name == "" {
		hint = "close the stream's writer before the connection; send IPC streams, not files"
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("the Arrow stream ended after %d bytes without its end mark", s.bytes),
		Hint:   hint,
	}
}

// addSchema stores what the schema of the stream declares.
func (s *streamReader) addSchema(schema flatbuffers.Table) error {
	if err := checkEndianness(schema); err != nil {
		return err
	}
	if err := checkTypes(schema, arrowmeta.SchemaFields); err != nil {
		return err
	}
	s.dictionaryShapes = map[int64]arrowmeta.Shape{}
	s.batchShape = arrowmeta.ShapeOf(schema, arrowmeta.SchemaFields, s.dictionaryShapes)
	s.columns, s.dictionaryColumns = arrowmeta.ColumnsOf(schema)
	s.found.numbers = arrowmeta.DictionaryNumbers(schema, arrowmeta.SchemaFields)
	return nil
}

// addDictionary stores the place of a dictionary batch and checks its buffers.
func (s *streamReader) addDictionary(m *message) error {
	s.found.dictionaries = append(s.found.dictionaries, m.block)
	words := flatbuffers.Table{Bytes: m.table.Bytes,
		Pos: m.table.Indirect(m.table.Pos + flatbuffers.UOffsetT(m.table.Offset(dictionaryData)))}
	number := m.table.GetInt64Slot(arrowmeta.DictionaryID, 0)
	err := s.checkBuffers(words, s.dictionaryShapes[number], nil, m.bodyAt, m.block.body)
	if err != nil {
		return addPlace(err, s.dictionaryColumns[number], 0)
	}
	return nil
}

// addBatch stores the place of a record batch, counts its rows and checks its buffers.
func (s *streamReader) addBatch(m *message) error {
	rows := m.table.GetInt64Slot(batchLength, 0)
	if rows < 0 || rows > column.MaxRows-s.rows {
		return &loaderr.SourceError{
			Batch:  len(s.found.batches) + 1,
			Reason: fmt.Sprintf("has %d rows", rows),
			Hint:   s.hint(""),
		}
	}
	s.rows += rows
	s.found.batches = append(s.found.batches, m.block)
	err := s.checkBuffers(m.table, s.batchShape, s.columns, m.bodyAt, m.block.body)
	if err != nil {
		return addPlace(err, "", len(s.found.batches))
	}
	return nil
}

// hint returns the given hint for a connection, and for a source the hint that it is damaged.
func (s *streamReader) hint(connection string) string {
	if s.name == "" {
		return connection
	}
	return loaderr.HintDamaged
}
