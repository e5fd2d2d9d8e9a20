package load

import (
	"bytes"
	"errors"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/arrow"
	"github.com/tensorcache/tensorcache/internal/ingest/source/jsonl"
	"github.com/tensorcache/tensorcache/internal/ingest/source/numpy"
	"github.com/tensorcache/tensorcache/internal/ingest/source/parquet"
	"github.com/tensorcache/tensorcache/internal/ingest/source/text"
	"github.com/tensorcache/tensorcache/internal/ingest/source/tfrecord"
	"github.com/tensorcache/tensorcache/internal/ingest/source/tsf"
)

// fileReader opens the files of one format.
type fileReader struct {
	format string                 // of files.Formats
	is     func(head []byte) bool // reports whether the first bytes of a file are of the format
	// a file with a suffix of the format has it, whatever its first bytes
	bySuffix bool
	// open opens a file. The reader closes f. A nil reader without an error means that the file is
	// of another format.
	open func(path string, f *files.File, s source.Settings) (source.Reader, error)
}

// fileReaders are tried in this order. A file that none of them matches is text.
var fileReaders = []fileReader{
	{"Parquet", parquet.Is, true, parquet.Open},
	{"Arrow", begins(arrow.StreamMagic), false, openArrow(true)},
	{"Arrow", begins(arrow.FileMagic), false, openArrow(false)},
	{"NumPy", begins(numpy.NpyMagic), false, numpy.OpenNpy},
	{"TFRecord", tfrecord.Is, true, tfrecord.Open},
	{"NumPy", begins(zipMagic), false, numpy.OpenNpz},
	{"JSON Lines", jsonl.Is, true, jsonl.Open},
	{"TSF", func([]byte) bool { return false }, true, tsf.Open},
}

// zipMagic are the first bytes of a zip archive.
const zipMagic = "PK\x03\x04"

// begins returns a function that reports whether the first bytes of a file are magic.
func begins(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

func openArrow(stream bool) func(string, *files.File, source.Settings) (source.Reader, error) {
	return func(path string, f *files.File, s source.Settings) (source.Reader, error) {
		return arrow.OpenFile(path, f, stream, s)
	}
}

// matches reports whether a file with that name and first bytes is of the reader's format.
func (r fileReader) matches(name string, head []byte) bool {
	f, ok := files.FormatOf(name)
	return r.is(head) || r.bySuffix && ok && f.Name == r.format
}

// open opens a source with the reader of its format.
func open(path string, s source.Settings) (source.Reader, error) {
	f, err := s.Staged.Open(s.AllowedRoots, path)
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	r, err := openFile(path, f, s)
	if err != nil {
		f.Close()
	}
	return r, err
}

// openFile opens a source whose file is open. It decompresses the file first.
func openFile(path string, f *files.File, s source.Settings) (source.Reader, error) {
	head, err := readHead(path, f)
	if err != nil {
		return nil, err
	}
	plain, name, compressed, err := files.Decompress(path, f, head, s.Decompression)
	if err != nil {
		return nil, err
	}
	if !compressed {
		return openAs(path, path, f, head, s, false)
	}
	if head, err = readHead(path, plain); err == nil {
		var r source.Reader
		if r, err = openAs(path, name, plain, head, s, true); err == nil {
			return r, f.Close()
		}
	}
	plain.Close()
	return nil, err
}

// openAs opens a file, or the decompressed copy of one, with the first reader that matches.
func openAs(path, name string, f *files.File, head []byte, s source.Settings,
	compressed bool) (source.Reader, error) {
	for _, r := range fileReaders {
		if !r.matches(name, head) {
			continue
		}
		if compressed && !readCompressed(r.format) {
			continue // refuse refuses it below, or it is text
		}
		reader, err := r.open(path, f, s)
		if err != nil {
			return nil, err
		}
		if reader == nil {
			continue
		}
		if err := s.Text.CheckUnused(path); err != nil {
			reader.Close()
			return nil, err
		}
		return reader, nil
	}
	return openText(path, name, f, head, s)
}

// openText opens a file of text, and decodes it first if it is not UTF-8.
func openText(path, name string, f *files.File, head []byte, s source.Settings) (source.Reader,
	error) {
	e, found := charset.Encoding{}, ""
	if format, known := files.FormatOf(name); !known || format.Text {
		var err error
		if e, found, err = encodingOf(path, f, s); err != nil {
			return nil, err
		}
	}
	if !e.IsWide() {
		if err := refuse(path, f, head); err != nil {
			return nil, err
		}
	}
	if e.IsUTF8() {
		return text.Open(path, name, "", f, s)
	}
	if found == "" && bytes.HasPrefix(head, []byte(charset.MarkUTF8)) {
		return nil, &loaderr.SourceError{
			Path: path, Reason: "begins with the mark of UTF-8, and the options say that it is " +
				e.String(), Hint: "leave out `encoding`",
		}
	}
	decoded, err := files.Decode(path, f, e, found != "", s.Decompression)
	if errors.Is(err, charset.ErrNotFound) {
		return text.Open(path, name, "", f, s) // which refuses what is not UTF-8, with its row
	}
	if err != nil {
		return nil, err
	}
	r, err := text.Open(path, name, found, decoded, s)
	if err != nil {
		return nil, errors.Join(err, decoded.Close())
	}
	return r, f.Close()
}

// encodingOf returns the encoding of a text file: the one that the options name, or else the one that
// its first bytes show. found is the name of the latter, "" if that is UTF-8.
func encodingOf(path string, f *files.File, s source.Settings) (e charset.Encoding, found string,
	err error) {
	if s.Text.Encoding != "" {
		e, _ = charset.Named(s.Text.Encoding) // valid options have a valid one
		return e, "", nil
	}
	head := make([]byte, charset.HeadBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return e, "", files.AsSourceError(path, err)
	}
	if e = charset.Find(head[:n], n < len(head)); !e.IsUTF8() {
		found = e.String()
	}
	return e, found, nil
}

// readCompressed reports whether a format is read from .gz and .zst files.
func readCompressed(format string) bool {
	for _, f := range files.Formats {
		if f.Name == format {
			return f.Compressed
		}
	}
	return false
}

// readHead reads the first bytes of a file.
func readHead(path string, f *files.File) ([]byte, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, files.AsSourceError(path, err)
	}
	return head[:n], nil
}
