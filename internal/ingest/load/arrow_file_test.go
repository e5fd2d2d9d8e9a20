package load

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
)

// arrowOptions returns options that load the files of puttest.ArrowFileBytes.
func arrowOptions(paths ...string) option.Options {
	return option.Options{Sources: paths, ItemID: []string{"id", "w"}}
}

// TestArrowFilesAndStreamsLoadTheSameValues loads the same batches as a file and as a stream, with
// and without compression and with any suffix, and compares the digests of the generations.
func TestArrowFilesAndStreamsLoadTheSameValues(t *testing.T) {
	want := ""
	for name, options := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()},
		"zstd": {ipc.WithZstd()}} {
		file, stream := puttest.ArrowFileBytes(t, options...)
		// Polars writes other bytes than a message with the schema at the beginning of a file.
		// The footer has the schema.
		polars := slices.Clone(file)
		polars[8] = 4
		for suffix, b := range map[string][]byte{"arrow": polars, "feather": file,
			"arrows": stream, "txt": file} {
			l := mustLoad(t, arrowOptions(loadtest.File(t, "x."+suffix, string(b))))
			if l.Manifest.Rows != 4 ||
				!slices.Equal(loadtest.Texts(l, "id"), []string{"b", "b", "b", "b"}) ||
				!slices.Equal(loadtest.Texts(l, "w"), []string{"x", "x", "x", "x"}) {
				t.Errorf("%s %s: %d rows, %v", name, suffix, l.Manifest.Rows,
					loadtest.Texts(l, "id"))
			}
			if want == "" {
				want = l.Manifest.Digest
			}
			if l.Manifest.Digest != want {
				t.Errorf("%s %s: digest %s, want %s", name, suffix, l.Manifest.Digest, want)
			}
		}
	}
}

func TestRowsOfSeveralArrowFilesAreConcatenated(t *testing.T) {
	file, stream := puttest.ArrowFileBytes(t)
	a, b := loadtest.File(t, "a.arrow", string(file)), loadtest.File(t, "b.arrows", string(stream))
	l := mustLoad(t, option.Options{Sources: []string{a, b}, Columns: []string{"i8", "f8"}})
	if got := loadtest.Values[int64](l, "i8"); len(got) != 8 || got[0] != got[4] ||
		got[3] != got[7] {
		t.Error(got)
	}
}

func TestInvalidArrowFilesAreRefused(t *testing.T) {
	file, stream := puttest.ArrowFileBytes(t)
	footer := int(binary.LittleEndian.Uint32(file[len(file)-10:]))
	extraBytes := slices.Concat(file[:len(file)-10-footer], file[:200],
		file[len(file)-10-footer:])
	longFooter := slices.Clone(file)
	binary.LittleEndian.PutUint32(longFooter[len(longFooter)-10:], uint32(len(longFooter)))
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"truncated file", string(file[:len(file)-5]),
			"x.arrow: is cut off: its end is not that of an Arrow file", "damaged",
			option.Options{}},
		{"only magic", "ARROW1", "x.arrow: is cut off", "damaged", option.Options{}},
		{"footer", string(longFooter), "x.arrow: has a footer of ", "damaged", option.Options{}},
		{"more than the footer says", string(extraBytes), "x.arrow: ", "", option.Options{}},
		{"truncated stream", string(stream[:len(stream)-8]), "without its end mark",
			"close the stream's writer", option.Options{}},
		{"two streams", string(stream) + string(stream), "other bytes follow the end mark",
			"a file of its own", option.Options{}},
		{"stream truncated in a batch", string(stream[:len(stream)-100]),
			"x.arrow: the Arrow stream ended after ", "close the stream's writer",
			option.Options{}},
		{"nothing", "\xff\xff\xff\xff\x00\x00\x00\x00", "x.arrow: ", "", option.Options{}},
		{"Feather 1", "FEA1xxxxFEA1", "x.arrow: is a Feather file of version 1, which is not read",
			"version 2", option.Options{}},
		{"compressed", loadtest.Compressed(t, ".gz", string(file)),
			"x.arrow: is a compressed Arrow file, but only " + files.CompressedNames() +
				" are read compressed",
			"decompress", option.Options{}},
		{"null", string(file), `x.arrow: `, "", option.Options{Time: "f4"}},
		{"delimiter", string(file), "delimiter: want it only for CSV and TSV files, not for ", "",
			option.Options{Delimiter: ";"}},
		{"unknown column", string(file), `columns: no column is named "f9"`, "",
			option.Options{Columns: []string{"f9"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.arrow", c.text)}
			_, _, err := loadInProcess(t, c.o)
			if c.name == "null" {
				c.want = `x.arrow, column "f4": a time column holds timestamps, dates or integers, not float32`
			}
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
}

// TestDifferentDictionaryIDsInTheFooterAreRefused changes the id of a dictionary in the schema of
// the footer. The dictionary batches have the id of the schema at the beginning of the file.
func TestDifferentDictionaryIDsInTheFooterAreRefused(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}
	fields := []arrow.Field{{Name: "a", Type: dictionary}, {Name: "b", Type: dictionary}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range 2 {
		if err := b.Field(i).(*array.BinaryDictionaryBuilder).AppendString("x"); err != nil {
			t.Fatal(err)
		}
	}
	record := b.NewRecord()
	path := filepath.Join(t.TempDir(), "x.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(record.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(record), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, option.Options{Sources: []string{path}})
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(file) - 10
	footer := file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]
	table := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	schema := flatbuffers.Table{Bytes: footer,
		Pos: table.Indirect(table.Pos + flatbuffers.UOffsetT(table.Offset(6)))}
	second := schema.Vector(flatbuffers.UOffsetT(schema.Offset(arrowmeta.SchemaFields))) + 4
	field := flatbuffers.Table{Bytes: footer, Pos: schema.Indirect(second)}
	encoding := flatbuffers.Table{Bytes: footer,
		Pos: field.Indirect(
			field.Pos + flatbuffers.UOffsetT(field.Offset(arrowmeta.FieldDictionary)))}
	if ids := arrowmeta.DictionaryNumbers(schema, arrowmeta.SchemaFields); !slices.Equal(
		ids, []int64{0, 1}) || !encoding.MutateInt64Slot(arrowmeta.DictionaryID, 7) {
		t.Fatal(ids)
	}
	_, _, err = loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "y.arrow", string(file))}})
	loadtest.Refused(t, err, "y.arrow: has another schema in its footer than at its beginning",
		"damaged")
}
