package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// First bytes of the file format, which is also version 2 of Feather, and of a stream.
const (
	FileMagic   = "ARROW1"
	StreamMagic = "\xff\xff\xff\xff"
)

// Bytes around the messages of an Arrow file: the padded magic before them; after them and the
// footer, the footer's length and the magic.
const (
	headBytes = 8
	tailBytes = 4 + len(FileMagic)
)

// OpenFile opens an Arrow file, or a file of an IPC stream if stream is true. It reads the messages
// in the file as a stream, and uses the footer to check that none is missing. Closing the reader
// closes f; if OpenFile returns an error, the caller closes f.
func OpenFile(path string, f *files.File, stream bool, w source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	s := &streamReader{
		file:          f,
		name:          path,
		bytes:         st.Size(),
		workers:       w.Workers,
		isNamed:       w.IsNamed,
		dir:           w.Dir,
		maxBatchBytes: max(w.Free, w.Ratio*st.Size()),
	}
	err = parallel.Guard(path, func() error {
		if !stream {
			if err := s.readFooter(st.Size()); err != nil {
				return err
			}
		}
		if err := s.scanMessages(); err != nil {
			return err
		}
		return s.readSchema()
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readFooter finds the end of the messages and reads which messages the footer lists.
func (s *streamReader) readFooter(size int64) error {
	cut := &loaderr.SourceError{
		Reason: "is cut off: its end is not that of an Arrow file",
		Hint:   loaderr.HintDamaged,
	}
	if size < headBytes+int64(tailBytes) {
		return cut
	}
	tail := make([]byte, tailBytes)
	if _, err := s.file.ReadAt(tail, size-int64(tailBytes)); err != nil {
		return files.AsSourceError(s.name, err)
	}
	if string(tail[4:]) != FileMagic {
		return cut
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	end := size - int64(tailBytes) - length
	if length < 8 || end < headBytes {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has a footer of %d bytes in a file of %d", length, size),
			Hint:   loaderr.HintDamaged,
		}
	}
	footer := make([]byte, length)
	if _, err := s.file.ReadAt(footer, end); err != nil {
		return files.AsSourceError(s.name, err)
	}
	if err := checkMetadata(footer, arrowmeta.Footer); err != nil {
		return err
	}
	table := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	// checkMetadata requires the schema.
	schema := flatbuffers.Table{Bytes: footer,
		Pos: table.Indirect(table.Pos + flatbuffers.UOffsetT(table.Offset(footerSchema)))}
	s.footer = &messageBlocks{blocksOf(table, footerDictionaries), blocksOf(table, footerBatches),
		arrowmeta.DictionaryNumbers(schema, arrowmeta.SchemaFields)}
	s.begin, s.bytes = headBytes, end-headBytes
	if _, err := s.file.ReadAt(tail[:4], headBytes); err != nil {
		return files.AsSourceError(s.name, err)
	}
	if string(tail[:4]) != StreamMagic {
		return s.useFooterOrder(table)
	}
	s.footerMessage = schemaMessage(table)
	return nil
}

// useFooterOrder orders the messages of a file from Polars as the footer lists them. Such a file
// does not begin with a schema message, its dictionary ids are not those of a schema message, and
// its dictionaries follow the batches that use them. The schema comes from the footer.
func (s *streamReader) useFooterOrder(footer flatbuffers.Table) error {
	begin, end := s.begin, s.begin+s.bytes
	var total int64
	for _, b := range slices.Concat(s.footer.dictionaries, s.footer.batches) {
		if b.at < begin || b.meta < 8 || b.body < 0 || b.meta > end-b.at ||
			b.body > end-b.at-b.meta ||
			total > end-b.meta-b.body {
			return &loaderr.SourceError{
				Reason: fmt.Sprintf(
					"has a block of %d and %d bytes at byte %d, but %d bytes in all", b.meta,
					b.body, b.at, end),
				Hint: loaderr.HintDamaged,
			}
		}
		s.segments = append(s.segments, segment{at: total, from: b.at})
		total += b.meta + b.body
	}
	s.leadingSchema = schemaMessage(footer)
	for i := range s.segments {
		s.segments[i].at += int64(len(s.leadingSchema))
	}
	s.bytes = total + int64(len(s.leadingSchema))
	return nil
}

// data returns a reader of the messages.
func (s *streamReader) data() *io.SectionReader {
	return io.NewSectionReader(messageReader{s}, 0, s.bytes)
}

// segment is a contiguous part of the messages: it begins at offset at of the messages and at
// offset from of the file, and ends where the next one begins.
type segment struct{ at, from int64 }

// messageReader reads the messages of a file in the order of a stream.
type messageReader struct{ *streamReader }

// ReadAt reads messages from offset at of the stream.
func (m messageReader) ReadAt(p []byte, at int64) (n int, err error) {
	if len(m.leadingSchema) == 0 {
		return m.file.ReadAt(p, m.begin+at)
	}
	for n < len(p) && err == nil {
		pos, to := at+int64(n), p[n:]
		more := 0
		if pos < int64(len(m.leadingSchema)) {
			more = copy(to, m.leadingSchema[pos:])
		} else {
			i := sort.Search(len(m.segments), func(i int) bool { return m.segments[i].at > pos })
			if i < len(m.segments) {
				to = to[:min(int64(len(to)), m.segments[i].at-pos)]
			}
			more, err = m.file.ReadAt(to, m.segments[i-1].from+pos-m.segments[i-1].at)
		}
		n += more
	}
	return n, err
}
