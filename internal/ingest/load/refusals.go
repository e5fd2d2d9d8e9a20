package load

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source/arrow"
	"github.com/tensorcache/tensorcache/internal/ingest/source/numpy"
	"github.com/tensorcache/tensorcache/internal/ingest/source/parquet"
)

// refusal is a kind of files that no reader reads.
type refusal struct {
	magic string // the first bytes of the files
	// is is the reason. COMPRESSED is replaced by the names of the formats that are read compressed.
	is, hint string
}

// Hints of refusals.
const (
	hintDecompress = "decompress it first"
	hintArrays     = "read it with xarray, h5py or pandas and put its arrays"
	hintFrame      = "read it with pandas and put the frame, or write it as CSV or Parquet"
	hintGzip       = "decompress it first, or compress it with gzip or zstd"
)

// refusals are tried in this order. The entries of Parquet, Arrow and NumPy are for compressed
// files only.
var refusals = []refusal{
	{parquet.Magic, "is a compressed Parquet file, but only COMPRESSED are read compressed",
		hintDecompress},
	{arrow.FileMagic, "is a compressed Arrow file, but only COMPRESSED are read compressed",
		hintDecompress},
	{"FEA1", "is a Feather file of version 1, which is not read",
		"write it again with version 2, or as Parquet"},
	{"BZh91AY&SY", "is compressed with bzip2, which is not read", hintGzip},
	{"\xfd7zXZ\x00", "is compressed with xz, which is not read", hintGzip},
	{
		numpy.NpyMagic, "is a compressed NumPy array, but only COMPRESSED are read compressed",
		"decompress it first, or write it with np.savez_compressed",
	},
	{"\xff\xfe\x00\x00", "is UTF-32 text", "save it as UTF-8"},
	{"\xff\xfe", "is UTF-16 text", "save it as UTF-8"},
	{"\xfe\xff", "is UTF-16 text", "save it as UTF-8"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook of old Excel, which is not read",
		hintWorkbook},
	{"\x89HDF\r\n\x1a\n", "is an HDF5 file, which is not read", hintArrays},
	{"CDF\x01", "is a NetCDF file, which is not read", hintArrays},
	{"CDF\x02", "is a NetCDF file, which is not read", hintArrays},
	{"SQLite format 3\x00", "is an SQLite database, which is not read", hintFrame},
	{"Obj\x01", "is an Avro file, which is not read", hintAvro},
	{"\x80\x02", pickled, hintPickle},
	{"\x80\x03", pickled, hintPickle},
	{"\x80\x04", pickled, hintPickle},
	{"\x80\x05", pickled, hintPickle},
}

// Texts of several refusals.
const (
	pickled      = "is a pickle, which is not read, because it can run any program"
	hintPickle   = "unpickle it if you trust it, and put the frame"
	hintWorkbook = "save its sheet as CSV, or read it with pandas and put the frame"
	hintJSON     = "write one object a line, as JSON Lines, or read it with pandas and put the frame"
	hintBinary   = "text may be compressed with gzip or zstd; " +
		"a table that another program reads may be sent with put"
	hintAvro  = "read it with Polars or DuckDB and put the table"
	hintTorch = "load it with torch and put the values of its tensors"
	hintHTML  = "download the file itself, not the page that shows it"
)

// refuse returns an error for a file that is not text. head is its first bytes.
func refuse(path string, f *files.File, head []byte) error {
	refused := func(is, hint string) error {
		is = strings.ReplaceAll(is, "COMPRESSED", files.CompressedNames())
		return &loaderr.SourceError{Path: path, Reason: is, Hint: hint}
	}
	binary := bytes.IndexByte(head, 0) >= 0
	if binary {
		if err := arrow.CheckOldStream(path, f); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(head, []byte(zipMagic)) {
		return refused(describeArchive(f))
	}
	if files.IsCompressed(head) { // once more, within what was decompressed
		return refused("is compressed twice", hintDecompress)
	}
	for _, r := range refusals {
		if bytes.HasPrefix(head, []byte(r.magic)) {
			return refused(r.is, r.hint)
		}
	}
	if is, hint := describeMarkup(path, head); is != "" {
		return refused(is, hint)
	}
	if !binary {
		return nil
	}
	format, known := files.FormatOf(path)
	if name := wideEncoding(head); name != "" && (format.Text || !known) {
		return refused("looks like UTF-16 text without a mark",
			"load it with "+loaderr.Option("encoding", name))
	}
	if (format.Text || !known) && endsInZeros(f, head) {
		return refused(loaderr.ReasonZeros, loaderr.HintZeros)
	}
	if format.Name == "Arrow" {
		return refused("does not begin like an Arrow file or stream",
			"if pyarrow reads it, write it again with that; if not, it is damaged")
	}
	return refused("is a binary file, want "+files.FormatNames(), hintBinary)
}

// endsInZeros reports whether the head of a file is lines of text and zeros, and the last byte is zero.
func endsInZeros(f *files.File, head []byte) bool {
	text := bytes.TrimRight(head, "\x00")
	var last [1]byte
	info, err := f.Stat()
	if err == nil {
		_, err = f.ReadAt(last[:], info.Size()-1)
	}
	return err == nil && last[0] == 0 && bytes.IndexByte(text, '\n') > 0 &&
		!bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) })
}

// wideEncoding returns the encoding of bytes of which nearly every second one is zero, as those of text
// in UTF-16 are, or "".
func wideEncoding(head []byte) string {
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	most := len(head) * 3 / 8
	switch {
	case most < 3:
	case zeros[0] == 0 && zeros[1] >= most:
		return "utf-16-le"
	case zeros[1] == 0 && zeros[0] >= most:
		return "utf-16-be"
	}
	return ""
}

// describeArchive returns what a zip archive is, and a hint.
func describeArchive(f *files.File) (is, hint string) {
	const unknown, unzip = "is a zip archive", "unzip it first"
	st, err := f.Stat()
	if err != nil {
		return unknown, unzip
	}
	archive, err := zip.NewReader(f, st.Size())
	if err != nil {
		return unknown, unzip
	}
	for _, e := range archive.File {
		switch {
		case strings.HasPrefix(e.Name, "xl/workbook."):
			return "is an Excel workbook, which is not read", hintWorkbook
		case e.Name == "content.xml":
			return "is an OpenDocument file, which is not read", hintWorkbook
		case strings.HasSuffix(e.Name, "/data.pkl"):
			return "is a file of torch.save, which is not read", hintTorch
		}
	}
	return unknown, unzip
}

// describeMarkup returns what a text is if it is JSON or HTML, and a hint. A CSV file may begin
// with a bracket or a brace, but hardly with those of JSON.
func describeMarkup(path string, head []byte) (is, hint string) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := bytes.ToLower(text[:min(len(text), 16)])
	if bytes.HasPrefix(lower, []byte("<!doctype html")) ||
		bytes.HasPrefix(lower, []byte("<html")) {
		return "is an HTML page", hintHTML
	}
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return "", ""
	}
	next := bytes.TrimLeft(text[1:], " \t\r\n")
	json := strings.EqualFold(filepath.Ext(path), ".json") ||
		text[0] == '{' && len(next) > 0 && (next[0] == '"' || next[0] == '}') ||
		text[0] == '[' && len(next) > 0 && next[0] == '{'
	if !json {
		return "", ""
	}
	return "is JSON, but not JSON Lines", hintJSON
}
