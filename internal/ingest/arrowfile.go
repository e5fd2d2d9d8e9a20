package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

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

const footerBatches = 10 // of the flatbuffer table Footer, as a vtable offset

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
	s := &arrowStream{file: f, name: path, bytes: st.Size(), workers: w.workers, most: max(w.free, w.ratio*st.Size()), batches: -1}
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
		return &SourceError{Reason: "does not begin with its schema as a message, as Polars writes it, which is not read yet", Hint: "write it with write_ipc_stream or write_parquet"}
	}
	return nil
}

// unpacked adds up what the buffers of a compressed batch say they hold, so that none asks for more memory than a sound file would.
func (s *arrowStream) unpacked(batch flatbuffers.Table, body, bodyBytes int64) error {
	buffers := flatbuffers.UOffsetT(batch.Offset(batchBuffers))
	if batch.Offset(batchCompression) == 0 || buffers == 0 || s.most == 0 {
		return nil
	}
	var total int64
	prefix := make([]byte, 8)
	first := batch.Vector(buffers)
	for i := range batch.VectorLen(buffers) {
		at := first + flatbuffers.UOffsetT(i)*16
		offset, length := batch.GetInt64(at), batch.GetInt64(at+8)
		if length == 0 {
			continue
		}
		if offset < 0 || length < 8 || offset > bodyBytes-length {
			return &SourceError{Reason: fmt.Sprintf("has a buffer of %d bytes at %d in a batch of %d", length, offset, bodyBytes), Hint: hintDamaged}
		}
		if _, err := s.data().ReadAt(prefix, body+offset); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint64(prefix))
		if n == -1 { // as it is
			n = length - 8
		}
		if total += max(n, 0); n < 0 || total < 0 || total > s.most {
			return &SourceError{Reason: fmt.Sprintf("has a batch of %d bytes that would hold more than %d", bodyBytes, s.most), Hint: hintDamaged}
		}
	}
	return nil
}

// data are the messages.
func (s *arrowStream) data() *io.SectionReader {
	return io.NewSectionReader(s.file, s.begin, s.bytes)
}
