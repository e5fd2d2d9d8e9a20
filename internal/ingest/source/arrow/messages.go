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

// scanMessages checks every message, counts the rows, and requires the end-of-stream mark. Arrow
// v15 accepts a stream that stops between two messages.
func (s *streamReader) scanMessages() error {
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
		if at == s.bytes && s.footer != nil { // a footer replaces the end mark
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
				return &loaderr.SourceError{
					Reason: "is an Arrow file, want an Arrow IPC stream",
					Hint:   "write it with new_stream, write_ipc_stream or the like",
				}
			}
			return s.messageError(at)
		}
		block := messageBlock{at: s.begin + at}
		length := int64(int32(binary.LittleEndian.Uint32(prefix[4:])))
		at += 8
		// Concatenated streams: Arrow would read only the first.
		if length == 0 && at < s.bytes && s.footer == nil {
			return &loaderr.SourceError{
				Reason: fmt.Sprintf(
					"%d other bytes follow the end mark of the Arrow stream", s.bytes-at),
				Hint: "write one stream with all record batches, or each into a file of its own",
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
		if err := checkMetadata(meta, arrowmeta.Message); err != nil {
			return err
		}
		message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		if v := message.GetInt16Slot(messageVersion, 0); v != versionV4 && v != versionV5 {
			return &loaderr.SourceError{
				Reason: fmt.Sprintf("has metadata of version %d, want 4 or 5", v+1),
				Hint:   s.hint("write it with another version of Arrow"),
			}
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
			if err := checkEndianness(batch); err != nil {
				return err
			}
			s.dictionaryShapes = map[int64]arrowmeta.Shape{}
			s.batchShape = arrowmeta.ShapeOf(batch, arrowmeta.SchemaFields, s.dictionaryShapes)
			s.columns, s.dictionaryColumns = arrowmeta.ColumnsOf(batch)
			s.found.numbers = arrowmeta.DictionaryNumbers(batch, arrowmeta.SchemaFields)
			continue
		case typeDictionaryBatch:
			s.found.dictionaries = append(s.found.dictionaries, block)
			words := flatbuffers.Table{Bytes: batch.Bytes,
				Pos: batch.Indirect(batch.Pos + flatbuffers.UOffsetT(batch.Offset(dictionaryData)))}
			number := batch.GetInt64Slot(arrowmeta.DictionaryID, 0)
			if err := s.checkBuffers(words, s.dictionaryShapes[number], nil, at-body,
				body); err != nil {
				return addPlace(err, s.dictionaryColumns[number], 0)
			}
			continue
		case typeRecordBatch:
		default:
			return &loaderr.SourceError{
				Reason: fmt.Sprintf(
					"has a message of type %d at byte %d, want a schema, a dictionary or rows",
					kind, block.at),
				Hint: s.hint("send an Arrow IPC stream of one table"),
			}
		}
		rows := batch.GetInt64Slot(batchLength, 0)
		if rows < 0 || rows > column.MaxRows-s.rows {
			return &loaderr.SourceError{
				Batch:  len(s.found.batches) + 1,
				Reason: fmt.Sprintf("has %d rows", rows),
				Hint:   s.hint(""),
			}
		}
		s.rows += rows
		s.found.batches = append(s.found.batches, block)
		if err := s.checkBuffers(batch, s.batchShape, s.columns, at-body, body); err != nil {
			return addPlace(err, "", len(s.found.batches))
		}
	}
}

// hint returns the given hint for a connection, and for a source the hint that it is damaged.
func (s *streamReader) hint(connection string) string {
	if s.name == "" {
		return connection
	}
	return loaderr.HintDamaged
}
