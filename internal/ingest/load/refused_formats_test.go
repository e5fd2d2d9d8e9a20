package load

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/endian"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// parquetOf returns a file of rows.
func parquetOf[T any](t *testing.T, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func refusedParquet(t *testing.T) []refusedFile {
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	edit := func(name string, edit func(m *format.FileMetaData)) string {
		return string(loadtest.EditParquet(t, read(name), nil,
			func(m *format.FileMetaData, _ []int) { edit(m) }))
	}
	chunk := func(m *format.FileMetaData, group int) *format.ColumnChunk {
		return &m.RowGroups[group].Columns[0]
	}
	type id struct {
		A [16]byte `parquet:"a,uuid"`
	}
	type index struct {
		Level int64 `parquet:"__index_level_0__"`
	}
	type time struct {
		T deprecated.Int96 `parquet:"t"`
	}
	type nullable struct {
		I *int64  `parquet:"i,optional"`
		X float64 `parquet:"x"`
	}
	o := option.Options{Columns: []string{"a"}}
	out := []refusedFile{
		{what: "an encrypted file", why: "the daemon has no keys",
			text: "PARE" + string(make([]byte, 20)) + "PARE"},
		{what: "an encrypted column", why: "the daemon has no keys", o: o,
			text: edit("holes", func(m *format.FileMetaData) {
				chunk(m, 0).CryptoMetadata.Value = &format.EncryptionWithFooterKey{}
			})},
		{what: "a column in another file", why: "a load reads the files that it names", o: o,
			text: edit("holes", func(m *format.FileMetaData) {
				chunk(m, 0).FilePath = "part-0.parquet"
			})},
		{what: "LZ4", why: "the library decodes it to wrong values",
			text: string(read("bad-lz4"))},
		{what: "several compressions in a column",
			why: "the library uses the first one for all row groups", o: o,
			text: edit("holes", func(m *format.FileMetaData) {
				chunk(m, 1).MetaData.Codec = format.Zstd
			})},
		{what: "encodings of later versions", why: "they did not exist when the reader was written",
			o: o, text: string(loadtest.EditParquet(t, read("holes"), func(h *format.PageHeader,
				c *format.ColumnMetaData, body []byte) []byte {
				if c.PathInSchema[0] == "a" {
					h.DataPageHeader.V.Encoding = 10
				}
				return body
			}, nil))},
		{what: "lists, maps and structs", why: "a row has one value in each column",
			text: string(read("bad-nested"))},
		{what: "types that are no numbers, times or texts", why: "no array can hold them",
			text: parquetOf(t, id{})},
		{what: "DuckDB's wide differences",
			why:  "readers disagree on their values",
			o:    option.Options{Columns: []string{"i32"}},
			text: edit("flat-encodings", func(m *format.FileMetaData) { m.CreatedBy = "DuckDB" })},
		{what: "a null in integers", why: "an integer cannot be missing",
			text: parquetOf(t, nullable{new(int64), 1}, nullable{nil, 2})},
		{what: "INT96 times beyond the years 1677 to 2262",
			why:  "64 bits of nanoseconds have no others",
			text: parquetOf(t, time{deprecated.Int96{0, 0, 5373484}})},
		{what: "no rows", why: "a dataset has at least one row", text: string(read("bad-empty"))},
		{what: "an index of pandas alone", why: "an index of integers without a name is left out",
			text: parquetOf(t, index{1})},
	}
	for i := range out {
		out[i].format, out[i].name = "Parquet", "x.parquet"
	}
	return out
}

func refusedArrow(t *testing.T) []refusedFile {
	stream := func(schema *arrow.Schema, rows int) []byte {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(schema))
		r := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range rows {
			r.Field(0).AppendNull()
		}
		if err := w.Write(r.NewRecord()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	of := func(kind arrow.DataType) []byte {
		return stream(arrow.NewSchema([]arrow.Field{{Name: "a", Type: kind, Nullable: true}}, nil),
			1)
	}
	numbers := of(arrow.PrimitiveTypes.Float64)
	metadata := numbers[8:][:binary.LittleEndian.Uint32(numbers[4:])]
	old := append(binary.LittleEndian.AppendUint32(nil, uint32(len(metadata))), metadata...)
	newer := bytes.Clone(numbers)
	root := 8 + int(binary.LittleEndian.Uint32(metadata))
	vtable := root - int(int32(binary.LittleEndian.Uint32(newer[root:])))
	newer[root+int(binary.LittleEndian.Uint16(newer[vtable+4:]))] = 5
	narrow := of(&arrow.Decimal256Type{Precision: 9, Scale: 2})
	width := bytes.Index(narrow, []byte{0, 1, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0})
	narrow[width], narrow[width+1] = 32, 0
	empty := of(arrow.FixedSizeListOf(7777, arrow.PrimitiveTypes.Int8))
	size := bytes.Index(empty, binary.LittleEndian.AppendUint32(nil, 7777))
	empty[size], empty[size+1] = 0, 0
	swapped := arrow.NewSchemaWithEndian(
		[]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil,
		endian.BigEndian)
	out := []refusedFile{
		{what: "Feather's first version", why: "it is another format, which is not written any more",
			text: "FEA1\x00\x00\x00\x00FEA1"},
		{what: "messages of Arrow before 0.15", why: "the library expects the form of later versions",
			text: string(old)},
		{what: "metadata of other versions than 4 and 5", why: "they mean something else",
			text: string(newer)},
		{what: "big-endian values", why: "the library swaps the bytes of some types only",
			text: string(stream(swapped, 1))},
		{what: "decimal32 and decimal64",
			why:  "the library does not know them, and needs the types of all columns",
			text: string(narrow)},
		{what: "lists that may differ in length", why: "a row has as many values as the others",
			text: string(of(arrow.ListOf(arrow.PrimitiveTypes.Int8)))},
		{what: "lists of no values", why: "a row has at least one value in each column",
			text: string(empty)},
		{what: "structs, maps and binary", why: "no array can hold them",
			text: string(of(arrow.BinaryTypes.Binary))},
		{what: "a stream without its end mark", why: "a stream that was cut off looks the same",
			text: string(numbers[:len(numbers)-8])},
		{what: "two streams in a file", why: "the library would read the first one alone",
			text: string(numbers) + string(numbers)},
		{what: "no rows", why: "a dataset has at least one row",
			text: string(stream(arrow.NewSchema(
				[]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, nil), 0))},
	}
	for i := range out {
		out[i].format, out[i].name = "Arrow", "x.arrow"
	}
	return out
}

func refusedArrays(t *testing.T) []refusedFile {
	npy := func(descr, shape string) string {
		return loadtest.NPY(descr, shape, false, binary.LittleEndian, make([]byte, 16))
	}
	encrypted := []byte(loadtest.NPZ(t, zip.Store, map[string]string{"a.npy": npy("<f8", "(2,)")}))
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	one := loadtest.Example(false, map[string]any{"a": []int64{1}})
	out := []refusedFile{
		{what: "Python objects", why: "they are a pickle, which can run any program",
			text: npy("|O", "(2,)")},
		{what: "complex numbers", why: "no window can hold them", text: npy("<c16", "(1,)")},
		{what: "long doubles", why: "their bytes differ from machine to machine",
			text: npy("<f16", "(1,)")},
		{what: "`datetime64` in months and years", why: "they differ in length",
			text: npy("<M8[M]", "(2,)")},
		{what: "more than two dimensions", why: "a column is `[rows]` or `[rows, n]`",
			text: npy("<f8", "(1, 1, 2)")},
		{what: "several arrays in a `.npy` file", why: "a file has one table",
			text: npy("<f8", "(2,)") + npy("<f8", "(2,)")},
		{what: "an encrypted archive", why: "the daemon has no keys", name: "x.npz",
			text: string(encrypted)},
		{format: "TFRecord", what: "lists that differ in length", name: "x.tfrecord",
			why: "a row has as many values as the others",
			text: loadtest.TFRecords(one,
				loadtest.Example(false, map[string]any{"a": []int64{1, 2}}))},
		{format: "TFRecord", what: "`SequenceExample`", name: "x.tfrecord",
			why:  "its lists differ in length",
			text: loadtest.TFRecords(slices.Concat(one, loadtest.Message(loadtest.ExampleLists, nil)))},
		{format: "TFRecord", what: "records of anything else", name: "x.tfrecord",
			why: "their bytes do not say what they are", text: loadtest.TFRecords([]byte("hello"))},
	}
	for i := range out {
		if out[i].format == "" {
			out[i].format = "NumPy"
		}
		if out[i].name == "" {
			out[i].name = "x.npy"
		}
	}
	return out
}

func refusedJSONLines() []refusedFile {
	out := []refusedFile{
		{what: "arrays and objects within a row", why: "a row has one value in each column",
			text: `{"a":[1,2],"b":1}`},
		{what: "an object on several lines", why: "the lines are what divides the file",
			text: "{\"a\":\n1}\n"},
		{what: "several objects on a line", why: "the lines are what divides the file",
			text: `{"a":1}{"a":2}`},
		{what: "a key twice in a row", why: "it is not clear which value is meant",
			text: `{"a":1,"a":2}`},
		{what: "a key without a name", why: "keys have no place that could name them",
			text: `{"":1,"a":2}`},
		{what: "`NaN` and `Infinity`", why: "JSON does not have them", text: `{"a":NaN}`},
		{what: "values of two types in a column", why: "one of the two may be a mistake",
			text: `{"a":1}` + "\n" + `{"a":"x"}`},
		{what: "UTF-16", why: "JSON is UTF-8", text: "\xff\xfe{\x00}\x00\n\x00"},
		{what: "UTF-16, big-endian", why: "JSON is UTF-8", text: "\xfe\xff\x00{\x00}\x00\n"},
		{what: "booleans that are missing", why: "a boolean cannot be missing",
			text: `{"a":true}` + "\n" + `{"a":null}`},
	}
	for i := range out {
		out[i].format, out[i].name = "JSON Lines", "x.jsonl"
	}
	return out
}

func refusedTSF() []refusedFile {
	const head = "@attribute series_name string\n@attribute start_timestamp date\n@frequency daily\n@data\n"
	out := []refusedFile{
		{what: "no `@data`", why: "it may be of another format", text: "@relation x\n"},
		{what: "no frequency beside a start", why: "the values have no times without it",
			text: "@attribute series_name string\n@attribute start_timestamp date\n@data\n" +
				"T1:2020-01-01 00-00-00:1,2\n"},
		{what: "an unknown frequency", why: "the values have no times without it",
			text: "@attribute series_name string\n@attribute start_timestamp date\n@frequency often\n@data\n" +
				"T1:2020-01-01 00-00-00:1,2\n"},
		{what: "attributes of other types", why: "the format has these three",
			text: "@attribute series_name text\n@data\nT1:1\n"},
		{what: "a series without values", why: "an item has at least one row",
			text: head + "T1:2020-01-01 00-00-00:\n"},
		{what: "empty values", why: "the format has a sign for a missing value",
			text: head + "T1:2020-01-01 00-00-00:1,,2\n"},
		{what: "words among the values", why: "they may be mistakes",
			text: head + "T1:2020-01-01 00-00-00:1,n/a,2\n"},
		{what: "lines with fewer attributes", why: "it is not clear which is missing", text: head + "T1:1,2\n"},
		{what: "lines with more attributes", why: "it is not clear which is meant",
			text: head + "T1:BE:2020-01-01 00-00-00:1,2\n"},
		{what: "a start in another form", why: "the format has one form",
			text: head + "T1:2020-01-01T00+00+00:1,2\n"},
		{what: "two series with one name", why: "one may be the end of the other",
			text: head + "T1:2020-01-01 00-00-00:1,2\nT1:2020-01-03 00-00-00:3\n"},
		{what: "several series without names", why: "windows would have values of two series",
			text: "@attribute state string\n@data\nBE:1,2\nNW:3,4\n"},
	}
	for i := range out {
		out[i].format, out[i].name = "TSF", "x.tsf"
	}
	return out
}

func refusedText() []refusedFile {
	out := []refusedFile{
		{what: "UTF-32", why: "hardly any program writes it",
			text: "\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00"},
		{what: "UTF-16 without a mark", why: "it may be binary",
			text: "a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00"},
		{what: "encodings other than UTF-8, UTF-16 and cp1252", why: "they cannot be told apart",
			text: "a\n\xef\xf0\xe8\n", o: option.Options{DType: option.DTypes{By: map[string]string{"a": "text"}}}},
		{what: "lines that end with a carriage return alone", why: "no line has ended",
			text: "a,b\r1,2\r"},
		{what: "a header alone", why: "a dataset has at least one row", text: "a,b\n"},
		{what: "no header", why: "the first line would be taken for names", text: "1,2\n3,4\n"},
		{what: "a title above the names of the columns", why: "a line with fewer cells may be a mistake",
			text: "Report of 2020\n\na,b\n1,2\n3,4\n"},
		{what: "comments above the names", why: "a name may begin with the sign",
			text: "# Report, of 2020\n# by A\na,b,c\n1,2,3\n3,4,5\n"},
		{what: "a title above, and comments between rows", why: "both may be mistakes",
			text: "Report of 2020\na,b\n1,2\n# gap\n3,4\n"},
		{what: "two columns of one name", why: "it is not clear which is meant",
			text: "a,a\n1,2\n"},
		{what: "quotes within a cell", why: "it is not clear where the cell ends",
			text: "a,b\n1,2\n3\"4,5\n"},
		{what: "rows with more or fewer cells", why: "it is not clear which cell is missing",
			text: "a,b\n1,2\n3\n"},
		{what: "signs between thousands", why: "1,234 may be 1.234",
			text: "a,b\n1,2\n\"1,234.5\",3\n"},
		{what: "blanks between cells", why: "names and texts may have blanks",
			text: "a b\n1 2\n3 4\n"},
		{what: "columns of equal width", why: "names and texts may have blanks",
			text: "a     b\n1.5   2\n3     4\n"},
		{what: "times that no option names", why: "columns of times are found only in formats that are clear",
			text: "Date Time\n13.05.2020 10:30\n14.05.2020 10:30\n"},
		{what: "times in a second column", why: "a load has one time column",
			text: "t,a\n1,2016/1/2\n", o: option.Options{Time: "t"}},
		{what: "numbers beyond float64", why: "no dtype has them", text: "a,b\n1,2\n1e400,3\n"},
		{what: "zero bytes", why: "the file was not written to its end",
			text: "a,b\n1,2\n" + string(make([]byte, 20))},
		{what: "per cent", why: "12 % may be meant as 12 or as 0.12", text: "a,b\n12%,3\n"},
		{what: "decimal commas", why: "1,234 may be 1234",
			text: "a;b\n1,234;3\n", o: option.Options{Delimiter: ";"}},
		{what: "a word among numbers", why: "it may be a mistake, or mean a missing value",
			text: "a,b\n1,2\nn/a,3\n"},
		{what: "a number among words", why: "one of the two may be a mistake",
			text: "a,b\nx,2\n7,3\n"},
		{what: "dates whose day is not clear", why: "03/04/2020 is in March or in April",
			text: "t,a\n03/04/2020,1\n", o: option.Options{Time: "t"}},
		{what: "zones in some cells only", why: "the others could be of any zone",
			text: "t,a\n2020-01-01T00:00Z,1\n2020-01-01T01:00,2\n", o: option.Options{Time: "t"}},
	}
	for i := range out {
		out[i].format, out[i].name = "CSV and TSV", "x.csv"
	}
	return out
}

func refusedOthers(t *testing.T) []refusedFile {
	archive := func(name string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	gzip := func(text string) string { return loadtest.Compressed(t, ".gz", text) }
	const many = "it holds many tables and arrays"
	out := []refusedFile{
		{what: "Excel workbooks", why: "a workbook is many tables and formulas", name: "x.xlsx",
			text: archive("xl/workbook.xml")},
		{what: "workbooks of old Excel", why: "a workbook is many tables and formulas",
			name: "x.xls", text: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00"},
		{what: "OpenDocument", why: "a workbook is many tables and formulas", name: "x.ods",
			text: archive("content.xml")},
		{what: "JSON", why: "it has no rows and columns of its own", name: "x.json",
			text: "[\n{\"a\": 1}\n]\n"},
		{what: "HTML", why: "a page was downloaded instead of the file", name: "x.csv",
			text: "<!DOCTYPE html>\n<html></html>\n"},
		{what: "HDF5", why: many, name: "x.h5", text: "\x89HDF\r\n\x1a\n\x00"},
		{what: "NetCDF", why: many, name: "x.nc", text: "CDF\x01\x00\x00"},
		{what: "SQLite", why: many, name: "x.db", text: "SQLite format 3\x00"},
		{what: "Avro", why: "its rows are records of any shape", name: "x.avro", text: "Obj\x01\x04"},
		{what: "pickles", why: "a pickle can run any program", name: "x.pkl",
			text: "\x80\x04\x95\x00"},
		{what: "files of `torch.save`", why: "they are pickles", name: "x.pt",
			text: archive("archive/data.pkl")},
		{what: "other zip archives", why: "they may hold any files", name: "x.zip",
			text: archive("a.csv")},
		{what: "bzip2", why: "it is slow, and rare for tables", name: "x.csv.bz2",
			text: "BZh91AY&SY\x00"},
		{what: "xz", why: "it is slow, and rare for tables", name: "x.csv.xz",
			text: "\xfd7zXZ\x00\x00"},
		{what: "text compressed twice", why: "it is a mistake", name: "x.csv.gz",
			text: gzip(gzip("a\n1\n"))},
		{what: "Parquet in gzip", why: "its pages are compressed already", name: "x.parquet.gz",
			text: gzip("PAR1")},
		{what: "Arrow in gzip", why: "its batches may be compressed", name: "x.arrow.gz",
			text: gzip("ARROW1")},
		{what: "a NumPy array in gzip", why: "archives are compressed", name: "x.npy.gz",
			text: gzip("\x93NUMPY")},
		{what: "other binary files", why: "their bytes do not say what they are", name: "x.bin",
			text: "\x7fELF\x00\x00"},
	}
	for i := range out {
		out[i].format = "Other files"
	}
	return out
}
