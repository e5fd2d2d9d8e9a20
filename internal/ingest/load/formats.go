package load

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/arrow"
	"github.com/tensorcache/tensorcache/internal/ingest/source/numpy"
	"github.com/tensorcache/tensorcache/internal/ingest/source/parquet"
	"github.com/tensorcache/tensorcache/internal/ingest/source/text"
	"github.com/tensorcache/tensorcache/internal/ingest/source/tfrecord"
)

// magics are the first bytes of files that are told by their content, whatever their name.
var magics = []struct {
	magic, is, hint string
}{
	{arrow.FileMagic, "is a compressed Arrow file, but only text and TFRecord are read compressed", "decompress it first"},
	{"FEA1", "is a Feather file of version 1, which is not read", "write it again with version 2, or as Parquet"},
	{"\x1f\x8b", "is compressed twice", "decompress it first"},
	{"\x28\xb5\x2f\xfd", "is compressed twice", "decompress it first"},
	{zipMagic, "is a zip archive", "unzip it first"},
	{numpy.NpyMagic, "is a compressed NumPy array, but only text and TFRecord are read compressed", "decompress it first, or write it with np.savez_compressed"},
	{"\xff\xfe", "is UTF-16 text", "save it as UTF-8"},
	{"\xfe\xff", "is UTF-16 text", "save it as UTF-8"},
}

const (
	zipMagic = "PK\x03\x04"
)

// open opens a source with the reader of its format.
func open(path string, w source.Settings) (source.Reader, error) {
	f, err := w.Reach.Open(path)
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	r, err := openFile(path, f, w)
	if err != nil {
		f.Close()
	}
	return r, err
}

func openFile(path string, f *os.File, w source.Settings) (source.Reader, error) {
	head, err := headOf(path, f)
	if err != nil {
		return nil, err
	}
	if plain, name, ok, err := files.Decompress(path, f, head, w.Decompression); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return openUnpacked(path, name, f, plain, w)
	}
	if bytes.HasPrefix(head, []byte(parquet.Magic)) || strings.EqualFold(filepath.Ext(path), ".parquet") {
		if err := w.Text.CheckUnused(path); err != nil {
			return nil, err
		}
		return parquet.Open(path, f, w)
	}
	if stream := bytes.HasPrefix(head, []byte(arrow.StreamMagic)); stream || bytes.HasPrefix(head, []byte(arrow.FileMagic)) {
		return arrow.OpenFile(path, f, stream, w)
	}
	if bytes.HasPrefix(head, []byte(numpy.NpyMagic)) {
		return numpy.OpenNpy(path, f, w)
	}
	if tfrecord.Is(head) || files.FormatOf(path) == "TFRecord" {
		return tfrecord.Open(path, f, w)
	}
	if bytes.HasPrefix(head, []byte(zipMagic)) {
		if r, ok, err := numpy.OpenNpz(path, f, w); ok || err != nil {
			return r, err
		}
	}
	if err := wantText(path, head); err != nil {
		return nil, err
	}
	return text.Open(path, path, f, w)
}

// openUnpacked opens a file that was compressed; name is what it was called before that. It takes plain, and f where it succeeds.
func openUnpacked(path, name string, f, plain *os.File, w source.Settings) (r source.Reader, err error) {
	defer func() {
		if err != nil {
			plain.Close()
		}
	}()
	head, err := headOf(path, plain)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte(parquet.Magic)) {
		return nil, &loaderr.SourceError{Path: path, Reason: "is a compressed Parquet file, but only text and TFRecord are read compressed", Hint: "decompress it first"}
	}
	if tfrecord.Is(head) || files.FormatOf(name) == "TFRecord" {
		r, err = tfrecord.Open(path, plain, w)
	} else if err = wantText(path, head); err == nil {
		r, err = text.Open(path, name, plain, w)
	}
	if err != nil {
		return nil, err
	}
	return r, f.Close()
}

// headOf reads the first bytes of a file.
func headOf(path string, f *os.File) ([]byte, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, files.AsSourceError(path, err)
	}
	return head[:n], nil
}

// wantText refuses a file that begins as no text does.
func wantText(path string, head []byte) error {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return &loaderr.SourceError{Path: path, Reason: m.is, Hint: m.hint}
		}
	}
	if bytes.IndexByte(head, 0) >= 0 && files.FormatOf(path) == "Arrow" {
		return &loaderr.SourceError{Path: path, Reason: "begins as no Arrow file or stream of version 0.15 or later does", Hint: "it is older or damaged; if pyarrow reads it, write it again with that"}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return &loaderr.SourceError{Path: path, Reason: "is a binary file, want CSV, TSV, Parquet, Arrow, NumPy or TFRecord", Hint: "text may be compressed with gzip or zstd; a table that another program reads may be sent with put"}
	}
	return nil
}
