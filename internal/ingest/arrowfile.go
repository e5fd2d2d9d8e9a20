package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sort"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Beginnings of Arrow files: of the file format (which is also Feather's second version) and of a stream.
const (
	arrowMagic  = "ARROW1"
	streamMagic = "\xff\xff\xff\xff"
)

// Around the messages of an Arrow file: the magic, padded; and the footer, its length and the magic again.
const (
	arrowHead = 8
	arrowTail = 4 + len(arrowMagic)
)

// Slots of the flatbuffer table Footer, as vtable offsets, and the size of the struct Block.
const (
	footerVersion      = 4
	footerSchema       = 6
	footerDictionaries = 8
	footerBatches      = 10
	blockSize          = 24
)

// openArrowFile reads an Arrow file by the stream that is in it: its messages stand in the order of a stream. The footer is used to
// check that they are all there.
func openArrowFile(path string, f *os.File, stream bool, w work) (reader, error) {
	if err := w.text.only(path); err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, statError(path, err)
	}
	s := &arrowStream{file: f, name: path, bytes: st.Size(), workers: w.workers, dir: w.dir, most: max(w.free, w.ratio*st.Size()), batches: -1}
	err = guard(path, func() error {
		if !stream {
			if err := s.readFooter(st.Size()); err != nil {
				return err
			}
		}
		if err := s.walk(); err != nil {
			return err
		}
		return s.readSchema()
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readFooter finds where the messages end, and how many batches there are.
func (s *arrowStream) readFooter(size int64) error {
	cut := &SourceError{Reason: "is cut off: its end is not that of an Arrow file", Hint: hintDamaged}
	if size < arrowHead+int64(arrowTail) {
		return cut
	}
	tail := make([]byte, arrowTail)
	if _, err := s.file.ReadAt(tail, size-int64(arrowTail)); err != nil {
		return statError(s.name, err)
	}
	if string(tail[4:]) != arrowMagic {
		return cut
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	end := size - int64(arrowTail) - length
	if length < 8 || end < arrowHead {
		return &SourceError{Reason: fmt.Sprintf("has a footer of %d bytes in a file of %d", length, size), Hint: hintDamaged}
	}
	footer := make([]byte, length)
	if _, err := s.file.ReadAt(footer, end); err != nil {
		return statError(s.name, err)
	}
	table := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	s.batches = 0
	if o := table.Offset(footerBatches); o != 0 {
		s.batches = table.VectorLen(flatbuffers.UOffsetT(o))
	}
	s.begin, s.bytes = arrowHead, end-arrowHead
	if _, err := s.file.ReadAt(tail[:4], arrowHead); err != nil {
		return statError(s.name, err)
	}
	if string(tail[:4]) != streamMagic {
		return s.frameSchema(table)
	}
	return nil
}

// frameSchema makes a message of the footer's schema, for files of Polars: what they begin with is no message, its dictionaries have other
// numbers, and those stand behind the batches that need them. The messages are taken in the order of the footer.
func (s *arrowStream) frameSchema(footer flatbuffers.Table) error {
	begin, end := s.begin, s.begin+s.bytes
	var blocks []piece
	var total int64
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerBatches} {
		o := flatbuffers.UOffsetT(footer.Offset(slot))
		for i := 0; o != 0 && i < footer.VectorLen(o); i++ {
			block := footer.Vector(o) + flatbuffers.UOffsetT(i)*blockSize
			from, meta, body := footer.GetInt64(block), int64(footer.GetInt32(block+8)), footer.GetInt64(block+16)
			if from < begin || meta < 8 || body < 0 || meta > end-from || body > end-from-meta || total > end-meta-body {
				return &SourceError{Reason: fmt.Sprintf("has a block of %d and %d bytes at byte %d, but %d bytes in all", meta, body, from, end), Hint: hintDamaged}
			}
			blocks = append(blocks, piece{at: total, from: from})
			total += meta + body
		}
	}
	schema := footer.Offset(footerSchema)
	if schema == 0 {
		return &SourceError{Reason: "has no schema", Hint: hintDamaged}
	}
	// A Message whose header is the table in the footer behind it: offsets of flatbuffers are relative and go forward.
	const message, header = 32, 20
	meta := make([]byte, message, message+len(footer.Bytes)+8)
	le := binary.LittleEndian
	le.PutUint32(meta, 16)                                   // the root table
	for i, v := range []uint16{12, 12, 8, 10, header - 16} { // its vtable: sizes, and where version, type and header are
		le.PutUint16(meta[4+2*i:], v)
	}
	le.PutUint32(meta[16:], 12) // back to the vtable
	le.PutUint32(meta[header:], uint32(message-header)+uint32(footer.Indirect(footer.Pos+flatbuffers.UOffsetT(schema))))
	le.PutUint16(meta[24:], uint16(footer.GetInt16Slot(footerVersion, 0)))
	meta[26] = typeSchema
	meta = append(meta, footer.Bytes...)
	meta = append(meta, make([]byte, -len(meta)&7)...)
	s.lead = append(le.AppendUint32([]byte(streamMagic), uint32(len(meta))), meta...)
	for i := range blocks {
		blocks[i].at += int64(len(s.lead))
	}
	s.pieces, s.bytes = blocks, total+int64(len(s.lead))
	return nil
}

// data are the messages.
func (s *arrowStream) data() *io.SectionReader {
	return io.NewSectionReader(messages{s}, 0, s.bytes)
}

// piece is where the messages from a place on, up to the next piece, stand in the file.
type piece struct{ at, from int64 }

// messages are those of a file in the order of a stream.
type messages struct{ *arrowStream }

func (m messages) ReadAt(p []byte, at int64) (n int, err error) {
	if len(m.lead) == 0 {
		return m.file.ReadAt(p, m.begin+at)
	}
	for n < len(p) && err == nil {
		here, to := at+int64(n), p[n:]
		more := 0
		if here < int64(len(m.lead)) {
			more = copy(to, m.lead[here:])
		} else {
			i := sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].at > here })
			if i < len(m.pieces) {
				to = to[:min(int64(len(to)), m.pieces[i].at-here)]
			}
			more, err = m.file.ReadAt(to, m.pieces[i-1].from+here-m.pieces[i-1].at)
		}
		n += more
	}
	return n, err
}
