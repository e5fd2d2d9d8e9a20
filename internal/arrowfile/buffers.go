package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
)

// ErrTorn is wrapped by every error about a file that differs from what was written.
var ErrTorn = errors.New("generation is incomplete")

// Span is the offset of a record batch's buffer in the file, and its size in bytes.
type Span struct{ Offset, Bytes int64 }

const arrowMagic = "ARROW1"

// Slots of the flatbuffer tables of Arrow's format (File.fbs, Message.fbs), as vtable offsets.
const (
	footerDictionaries  = 8
	footerRecordBatches = 10
	messageType         = 6
	messageHeader       = 8
	batchBuffers        = 8
)

// typeRecordBatch is the message type of a record batch.
const typeRecordBatch = 3

// maxMetadata is the largest size of a footer or message that is read. Each column takes some
// hundred bytes.
const maxMetadata = 256 << 20

// Buffers returns the buffers of the file's only record batch. It reads them from the footer,
// because the FileReader of Arrow v15 would copy all values.
func Buffers(r io.ReaderAt, size int64) (spans []Span, err error) {
	defer func() {
		if p := recover(); p != nil { // flatbuffers panics on offsets outside the buffer
			spans, err = nil, fmt.Errorf("%w: the Arrow footer is damaged: %v", ErrTorn, p)
		}
	}()
	tail := make([]byte, 4+len(arrowMagic))
	if size < int64(len(tail)) {
		return nil, fmt.Errorf("%w: %d bytes are no Arrow file", ErrTorn, size)
	}
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != arrowMagic || length > size-int64(len(tail)) {
		return nil, fmt.Errorf("%w: no Arrow footer at its end", ErrTorn)
	}
	footer, err := readTable(r, size-int64(len(tail))-length, length, arrowmeta.Footer)
	if err != nil {
		return nil, err
	}
	slot := flatbuffers.UOffsetT(footer.Offset(footerDictionaries))
	if slot != 0 && footer.VectorLen(slot) != 0 { // this package writes none
		return nil, fmt.Errorf("%w: it has dictionaries", ErrTorn)
	}
	slot = flatbuffers.UOffsetT(footer.Offset(footerRecordBatches))
	if slot == 0 || footer.VectorLen(slot) != 1 {
		return nil, fmt.Errorf("%w: it does not hold one record batch", ErrTorn)
	}
	block := footer.Vector(slot)
	offset, metadata := footer.GetInt64(block), int64(footer.GetInt32(block+8))
	if metadata < 8 || offset < 0 || offset > size-metadata {
		return nil, fmt.Errorf("%w: its record batch lies outside the file", ErrTorn)
	}
	message, err := readTable(r, offset+8, metadata-8, arrowmeta.Message)
	if err != nil {
		return nil, err
	}
	if message.GetByteSlot(messageType, 0) != typeRecordBatch {
		return nil, fmt.Errorf("%w: the message of its record batch has another type", ErrTorn)
	}
	var batch flatbuffers.Table
	message.Union(&batch, flatbuffers.UOffsetT(message.Offset(messageHeader)))
	slot = flatbuffers.UOffsetT(batch.Offset(batchBuffers))
	start := batch.Vector(slot)
	for i := range batch.VectorLen(slot) {
		at := start + flatbuffers.UOffsetT(i*16)
		s := Span{offset + metadata + batch.GetInt64(at), batch.GetInt64(at + 8)}
		if s.Bytes < 0 || s.Offset < 0 || s.Offset > size-s.Bytes {
			return nil, fmt.Errorf("%w: buffer %d lies outside the file", ErrTorn, i)
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// readTable reads a flatbuffer of length bytes, checks it against its format and returns its root
// table.
func readTable(r io.ReaderAt, offset, length int64, root string) (flatbuffers.Table, error) {
	if length > maxMetadata {
		return flatbuffers.Table{}, fmt.Errorf("%w: %d bytes are no %s", ErrTorn, length,
			strings.ToLower(root))
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, offset); err != nil {
		return flatbuffers.Table{}, err
	}
	if !arrowmeta.Check(b, root) {
		return flatbuffers.Table{}, fmt.Errorf("%w: the Arrow %s is damaged", ErrTorn,
			strings.ToLower(root))
	}
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}, nil
}

// FileBuffers returns the [Buffers] of a file.
func FileBuffers(f *os.File) ([]Span, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Buffers(f, st.Size())
}

// firstBuffer returns the offset of the first buffer that is not empty, or 0.
func firstBuffer(spans []Span) int64 {
	for _, s := range spans {
		if s.Bytes > 0 {
			return s.Offset
		}
	}
	return 0
}

// FieldBuffers returns the buffers of each top-level field of an Arrow file, without the validity
// bitmaps. Numbers and fixed-size lists of them have one, text has two: offsets and bytes.
func FieldBuffers(r io.ReaderAt, size int64) (out map[string][]Span, err error) {
	defer func() {
		if p := recover(); p != nil { // Arrow v15 panics on damaged schemas
			out, err = nil, fmt.Errorf("%w: the Arrow schema is damaged: %v", ErrTorn, p)
		}
	}()
	spans, err := Buffers(r, size)
	if err != nil {
		return nil, err
	}
	reader, err := ipc.NewFileReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTorn, err)
	}
	defer reader.Close()
	out = map[string][]Span{}
	for _, f := range reader.Schema().Fields() {
		skip, take := 1, 1
		switch f.Type.ID() {
		case arrow.FIXED_SIZE_LIST:
			skip = 2
		case arrow.STRING:
			take = 2
		}
		if len(spans) < skip+take {
			return nil, fmt.Errorf("%w: field %q has no buffers", ErrTorn, f.Name)
		}
		out[f.Name] = spans[skip : skip+take]
		spans = spans[skip+take:]
	}
	return out, nil
}
