package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// schemaOfAll returns the metadata of a stream with every type of Arrow.
func schemaOfAll(t *testing.T) []byte {
	t.Helper()
	types := []arrow.DataType{
		arrow.Null, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, arrow.FixedWidthTypes.Date32,
		arrow.FixedWidthTypes.Time64us,
		&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Berlin"},
		arrow.FixedWidthTypes.MonthInterval,
		arrow.ListOf(arrow.PrimitiveTypes.Int16),
		arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.String}),
		arrow.DenseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, []int8{3}),
		&arrow.FixedSizeBinaryType{ByteWidth: 5},
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
		arrow.FixedWidthTypes.Duration_ns,
		arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.LargeString,
		arrow.LargeListOf(arrow.PrimitiveTypes.Int8),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8),
		arrow.BinaryTypes.BinaryView, arrow.BinaryTypes.StringView,
		arrow.ListViewOf(arrow.PrimitiveTypes.Int8),
		arrow.LargeListViewOf(arrow.PrimitiveTypes.Int8),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16,
			ValueType: arrow.BinaryTypes.String},
	}
	var fields []arrow.Field
	for _, kind := range types {
		fields = append(fields, arrow.Field{Name: kind.Name(), Type: kind, Nullable: true,
			Metadata: arrow.NewMetadata([]string{"key"}, []string{"value"})})
	}
	meta := arrow.NewMetadata([]string{"pandas"}, []string{"{}"})
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, &meta)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()[8:][:binary.LittleEndian.Uint32(b.Bytes()[4:])]
}

func TestMetadataAgainstTheFormatIsRefused(t *testing.T) {
	good := schemaOfAll(t)
	if err := checkMetadata(good, arrowmeta.Message); err != nil {
		t.Fatal(err)
	}
	root := flatbuffers.Table{Bytes: good, Pos: flatbuffers.GetUOffsetT(good)}
	var schema flatbuffers.Table
	root.Union(&schema, flatbuffers.UOffsetT(root.Offset(arrowmeta.MessageHeader)))
	// a float64
	field := flatbuffers.Table{Bytes: good,
		Pos: schema.Indirect(
			schema.Vector(flatbuffers.UOffsetT(schema.Offset(arrowmeta.SchemaFields))) + 4*2)}
	position := func(t flatbuffers.Table, slot flatbuffers.VOffsetT) int {
		return int(t.Pos) + int(t.Offset(slot))
	}
	name := int(field.Indirect(flatbuffers.UOffsetT(position(field, arrowmeta.FieldName))))
	kind := int(field.Indirect(flatbuffers.UOffsetT(position(field, arrowmeta.FieldType))))
	slots := kind - int(int32(binary.LittleEndian.Uint32(good[kind:])))
	for what, damage := range map[string]func(b []byte){
		"a root beyond the end": func(b []byte) {
			binary.LittleEndian.PutUint32(b,
				uint32(len(b)))
		},
		"a root that points to itself": func(b []byte) { clear(b[:4]) },
		"a root that is not aligned":   func(b []byte) { b[0]++ },
		"a table without fields":       func(b []byte) { b[kind+3] ^= 0x40 },
		"a table before the beginning": func(b []byte) {
			binary.LittleEndian.PutUint32(b[kind:],
				uint32(len(b)))
		},
		"fields of an odd size":        func(b []byte) { b[slots]++ },
		"fields beyond the end":        func(b []byte) { b[slots+1] = 0xff },
		"a number that is not aligned": func(b []byte) { b[slots+4]++ },
		"a number beyond the end":      func(b []byte) { b[slots+5] = 0xff },
		"a name beyond the end": func(b []byte) {
			binary.LittleEndian.PutUint32(
				b[position(field, arrowmeta.FieldName):], 1<<20)
		},
		"a name behind itself": func(b []byte) {
			binary.LittleEndian.PutUint32(
				b[position(field, arrowmeta.FieldName):], 1<<31)
		},
		"a name that is too long": func(b []byte) {
			binary.LittleEndian.PutUint32(
				b[name:], 1<<31-1)
		},
		"a name without its end": func(b []byte) {
			b[name+4+
				int(binary.LittleEndian.Uint32(b[name:]))] = 'x'
		},
		"a field without a type": func(b []byte) {
			clear(b[int(field.Pos)-int(int32(binary.LittleEndian.Uint32(b[field.Pos:])))+
				arrowmeta.FieldType:][:2])
		},
		"more fields than bytes": func(b []byte) {
			binary.LittleEndian.PutUint32(
				b[schema.Vector(flatbuffers.UOffsetT(schema.Offset(arrowmeta.SchemaFields)))-4:],
				1<<30)
		},
		"a child that is the field itself": func(b []byte) { makeOwnChild(b, field) },
	} {
		b := bytes.Clone(good)
		damage(b)
		if err := checkMetadata(b, arrowmeta.Message); err == nil ||
			!strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range good[:64] {
		if checkMetadata(good[:n], arrowmeta.Message) == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}

// makeOwnChild makes the first child of a field the field itself.
func makeOwnChild(b []byte, field flatbuffers.Table) {
	children := int(
		field.Indirect(field.Pos + flatbuffers.UOffsetT(field.Offset(arrowmeta.FieldChildren))))
	binary.LittleEndian.PutUint32(b[children:], 1)
	binary.LittleEndian.PutUint32(b[children+4:], uint32(int(field.Pos)-children-4))
}

// TestAcceptedMetadataCanBeRead damages metadata at random. Arrow's reader must not read out of
// range in metadata that the check accepts.
func TestAcceptedMetadataCanBeRead(t *testing.T) {
	const seed = 20261121
	draw := rand.New(rand.NewPCG(seed, 0))
	good := schemaOfAll(t)
	accepted := 0
	for i := range 20_000 {
		b := loadtest.Mutate(draw, good)
		if checkMetadata(b, arrowmeta.Message) != nil {
			continue
		}
		accepted++
		func() {
			defer func() {
				if p := recover(); p != nil &&
					strings.Contains(strings.ToLower(panicText(p)), "out of range") {
					t.Errorf("seed %d, mutant %d: %v", seed, i, p)
				}
			}()
			root := flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
			var schema flatbuffers.Table
			root.Union(&schema, flatbuffers.UOffsetT(root.Offset(arrowmeta.MessageHeader)))
			if root.GetByteSlot(arrowmeta.MessageType, 0) == arrowmeta.TypeSchema {
				arrowmeta.ShapeOf(schema, arrowmeta.SchemaFields, map[int64]arrowmeta.Shape{})
			}
			if r, err := ipc.NewReader(bytes.NewReader(messageOf(b))); err == nil {
				r.Release()
			}
		}()
	}
	if accepted == 0 || accepted == 20_000 {
		t.Errorf("%d were accepted", accepted)
	}
}

func panicText(p any) string {
	if err, ok := p.(error); ok {
		return err.Error()
	}
	if s, ok := p.(string); ok {
		return s
	}
	return ""
}

func TestShapeOfASchema(t *testing.T) {
	good := schemaOfAll(t)
	root := flatbuffers.Table{Bytes: good, Pos: flatbuffers.GetUOffsetT(good)}
	var schema flatbuffers.Table
	root.Union(&schema, flatbuffers.UOffsetT(root.Offset(arrowmeta.MessageHeader)))
	words := map[int64]arrowmeta.Shape{}
	got := arrowmeta.ShapeOf(schema, arrowmeta.SchemaFields, words)
	// From the columnar format's table of buffers: 0 for null; 1 for structs, sparse unions and
	// fixed-size lists; 3 for texts and list views; 2 for the rest.
	nodes := 27 + 1 + 1 + 1 + 1 + 3 + 1 + 2 + 1 + 1
	buffers := 0 + 2 + 2 + 3 + 3 + 2 + 2 + 2 + 2 + 2 + 2 + (2 + 2) + (1 + 3) + (2 + 2) + 2 +
		(1 + 2) + (2 + 1 + 3 + 2) + 2 + 3 + 3 + (2 + 2) + (0 + 2 + 2) + 2 + 2 +
		(3 + 2) + (3 + 2) + 2
	if want := (arrowmeta.Shape{Nodes: nodes, Buffers: buffers}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if len(words) != 1 || words[0] != (arrowmeta.Shape{Nodes: 1, Buffers: 3}) {
		t.Error(words)
	}
	if _, enough := got.Has(flatbuffers.Table{Bytes: make([]byte, 16), Pos: 4}); enough {
		t.Error("a batch without arrays has enough of them")
	}
}

// openFile opens a file with these bytes.
func openFile(t *testing.T, b []byte) error {
	t.Helper()
	path := loadtest.File(t, "x.arrows", string(b))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = OpenFile(path, files.NewFile(f), true, source.Settings{
		Workers:       1,
		Decompression: files.Decompression{Dir: t.TempDir()},
	})
	return err
}

// messageOf returns a stream that begins with metadata.
func messageOf(metadata []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(StreamMagic), uint32(len(metadata))),
		metadata...)
}

// TestOtherVersionsOfMetadataAreNotDamaged gives a schema the numbers of other versions.
func TestOtherVersionsOfMetadataAreNotDamaged(t *testing.T) {
	good := schemaOfAll(t)
	root := flatbuffers.Table{Bytes: good, Pos: flatbuffers.GetUOffsetT(good)}
	at := int(root.Pos) + int(root.Offset(messageVersion))
	for version, hint := range map[int16]string{
		0: "metadata of version 5", 2: "metadata of version 5", 5: "metadata of version 5",
		15: "metadata of version 5", 16: loaderr.HintDamaged, -1: loaderr.HintDamaged,
	} {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint16(b[at:], uint16(version))
		err := openFile(t, messageOf(b))
		loadtest.Refused(t, err, "has metadata of version", hint)
	}
}

// TestTypesOfLaterVersionsAreNamed gives a decimal, which may be inside a list, the widths that
// later versions of Arrow have, and a column a type that they may have.
func TestTypesOfLaterVersionsAreNamed(t *testing.T) {
	// A width of 128 bits is not written.
	decimal := &arrow.Decimal256Type{Precision: 9, Scale: 2}
	for _, kind := range []arrow.DataType{decimal, arrow.ListOf(decimal),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: decimal}} {
		good := loadtest.ArrowSchema(t, []arrow.Field{{Name: "a", Type: arrow.Null},
			{Name: "d", Type: kind}})
		width := bytes.Index(good, []byte{0, 1, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0})
		for bits, want := range map[byte]string{
			32: `column "d": is decimal32(9, 2), which is not read`,
			64: `column "d": is decimal64(9, 2), which is not read`,
			7:  `column "d": has a type that Arrow does not have`,
		} {
			b := bytes.Clone(good)
			b[width], b[width+1] = bits, 0
			hint := "decimal128 or float64"
			if bits == 7 {
				hint = loaderr.HintDamaged
			}
			loadtest.Refused(t, openFile(t, b), want, hint)
		}
	}
	good := schemaOfAll(t)
	root := flatbuffers.Table{Bytes: good, Pos: flatbuffers.GetUOffsetT(good)}
	var schema flatbuffers.Table
	root.Union(&schema, flatbuffers.UOffsetT(root.Offset(arrowmeta.MessageHeader)))
	field := schema.Indirect(
		schema.Vector(flatbuffers.UOffsetT(schema.Offset(arrowmeta.SchemaFields))) + 4*2)
	good[int(field)+int((&flatbuffers.Table{Bytes: good, Pos: field}).Offset(
		arrowmeta.FieldTypeKind))] = typeLast + 1
	loadtest.Refused(t, openFile(t, messageOf(good)),
		`column "float64": is of type 27 of a later version of Arrow`, "cast the column")
}

// TestListsOfNoValuesAreNamed gives a list of fixed size, which may be inside another type, a size on
// which Arrow v15 panics.
func TestListsOfNoValuesAreNamed(t *testing.T) {
	list := arrow.FixedSizeListOf(7777, arrow.PrimitiveTypes.Float64)
	for _, kind := range []arrow.DataType{list, arrow.ListOf(list),
		arrow.StructOf(arrow.Field{Name: "x", Type: list})} {
		good := loadtest.ArrowSchema(t, []arrow.Field{{Name: "a", Type: arrow.Null},
			{Name: "l", Type: kind}})
		at := bytes.Index(good, binary.LittleEndian.AppendUint32(nil, 7777))
		for _, size := range []int32{0, -1, math.MinInt32} {
			b := bytes.Clone(good)
			binary.LittleEndian.PutUint32(b[at:], uint32(size))
			loadtest.Refused(t, openFile(t, b), fmt.Sprintf(
				`column "l": is a fixed_size_list of %d values, want at least 1`, size),
				"leave the column out")
		}
	}
}

// TestStreamsOfOldVersionsAreRecognized writes a schema as Arrow did before version 0.15, whose
// first bytes are a length.
func TestStreamsOfOldVersionsAreRecognized(t *testing.T) {
	schema := schemaOfAll(t)
	old := append(binary.LittleEndian.AppendUint32(nil, uint32(len(schema))), schema...)
	for _, c := range []struct {
		text string
		old  bool
	}{
		{string(old), true},
		{string(old) + "\x00\x00\x00\x00", true},
		{string(old[:len(old)-1]), false},
		{"\x08\x00\x00\x00" + strings.Repeat("\x00", 8), false},
		{"\xff\xff\xff\x7f" + strings.Repeat("\x00", 8), false},
		{"\x00", false},
		{"", false},
	} {
		path := loadtest.File(t, "x.bin", c.text)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckOldStream(path, files.NewFile(f))
		f.Close()
		if c.old {
			loadtest.Refused(t, err, path+": is in the form that Arrow had before version 0.15",
				"write it again")
		} else if err != nil {
			t.Errorf("%.20q: %v", c.text, err)
		}
	}
}

// TestHintsForColumnsOfFilesAreNotThoseOfPut compares the hint for a type that is not read, of a
// file and of a connection.
func TestHintsForColumnsOfFilesAreNotThoseOfPut(t *testing.T) {
	for name, want := range map[string]string{
		"x.arrows": "leave the column out with `columns`, or cast it and write the file again",
		"":         "leave the column out, or cast it before it is sent",
	} {
		s := &streamReader{name: name, schema: arrow.NewSchema([]arrow.Field{
			{Name: "a", Type: arrow.BinaryTypes.Binary}}, nil)}
		if err := s.findColumns(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Describe(make([]column.Want, 1))
		loadtest.Refused(t, err, `column "a": is binary, which is not read`, want)
	}
}
