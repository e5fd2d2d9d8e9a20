package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Slots of the flatbuffer table Footer, as vtable offsets, and the size of the struct Block.
const (
	footerVersion      = 4
	footerSchema       = 6
	footerDictionaries = 8
	footerBatches      = 10
	blockSize          = 24
)

// messageBlocks lists the messages with bodies, and the dictionary id of each field that has one.
type messageBlocks struct {
	dictionaries, batches []messageBlock
	numbers               []int64
}

// messageBlock is one message: its file offset, the length of its metadata, and the length of its
// body.
type messageBlock struct{ at, meta, body int64 }

// blocksOf returns the blocks that a slot of the footer lists.
func blocksOf(footer flatbuffers.Table, slot flatbuffers.VOffsetT) (out []messageBlock) {
	o := flatbuffers.UOffsetT(footer.Offset(slot))
	for i := 0; o != 0 && i < footer.VectorLen(o); i++ {
		b := footer.Vector(o) + flatbuffers.UOffsetT(i)*blockSize
		out = append(out, messageBlock{footer.GetInt64(b), int64(footer.GetInt32(b + 8)),
			footer.GetInt64(b + 16)})
	}
	return out
}

// schemaMessage returns a schema message with the footer's schema.
func schemaMessage(footer flatbuffers.Table) []byte {
	schema := footer.Offset(footerSchema) // checkMetadata requires it
	// The table Message is followed by the whole footer, and its header is the schema in the
	// footer: offsets of flatbuffers are relative and point forward.
	const message, header = 32, 20
	meta := make([]byte, message, message+len(footer.Bytes)+8)
	le := binary.LittleEndian
	le.PutUint32(meta, 16) // the root table
	// Its vtable: sizes, and the positions of version, type and header.
	for i, v := range []uint16{12, 12, 8, 10, header - 16} {
		le.PutUint16(meta[4+2*i:], v)
	}
	le.PutUint32(meta[16:], 12) // back to the vtable
	le.PutUint32(meta[header:], uint32(message-header)+
		uint32(footer.Indirect(footer.Pos+flatbuffers.UOffsetT(schema))))
	le.PutUint16(meta[24:], uint16(footer.GetInt16Slot(footerVersion, 0)))
	meta[26] = arrowmeta.TypeSchema
	meta = append(meta, footer.Bytes...)
	meta = append(meta, make([]byte, -len(meta)&7)...)
	return append(le.AppendUint32([]byte(StreamMagic), uint32(len(meta))), meta...)
}

// checkFooter compares the footer with the messages. Readers use either.
func (s *streamReader) checkFooter(found messageBlocks) error {
	if s.footer == nil {
		return nil
	}
	if n, want := len(found.batches), len(s.footer.batches); n != want {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("holds %d batches, its footer lists %d", n, want),
			Hint:   loaderr.HintDamaged,
		}
	}
	if s.leadingSchema != nil { // the messages come from the footer
		return nil
	}
	if !slices.Equal(found.batches, s.footer.batches) ||
		!slices.Equal(found.dictionaries, s.footer.dictionaries) {
		return &loaderr.SourceError{
			Reason: "has messages at other places than its footer lists",
			Hint:   loaderr.HintDamaged,
		}
	}
	r, err := ipc.NewReader(bytes.NewReader(s.footerMessage))
	if err != nil {
		return &loaderr.SourceError{
			Reason: "has a footer that cannot be read: " + loaderr.DecoderText(err),
			Hint:   loaderr.HintDamaged,
		}
	}
	defer r.Release()
	if !r.Schema().Equal(s.schema) || !slices.Equal(found.numbers, s.footer.numbers) {
		return &loaderr.SourceError{
			Reason: "has another schema in its footer than at its beginning",
			Hint:   loaderr.HintDamaged,
		}
	}
	return nil
}
