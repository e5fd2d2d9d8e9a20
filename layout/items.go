package layout

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cespare/xxhash/v2"
)

// Items are the series of a generation in the order of their first rows.
type Items struct {
	// Offsets are the items' first rows, and the number of all rows at the end.
	Offsets []int64
	// Values name the items: one entry per item_id column.
	Values []ItemValues
}

// ItemValues are the values of one item_id column, one per item: Ints, or Texts where it is text.
type ItemValues struct {
	Name  string
	Ints  []int64
	Texts []string
}

// Names of the fields of items.arrow and of vocabularies.
const (
	rowOffsetField = "row_offset"
	rowsField      = "rows"
	valueField     = "value"
)

// writeItems writes items.arrow and notes in the manifest where everything is.
func writeItems(dir string, m *Manifest, items Items) error {
	n := len(items.Offsets) - 1
	if n < 0 {
		return fmt.Errorf("%w: items without offsets", ErrSchema)
	}
	counts := make([]int64, n)
	for i := range counts {
		counts[i] = items.Offsets[i+1] - items.Offsets[i]
	}
	var fields []arrow.Field
	var columns []arrow.Array
	for _, v := range items.Values {
		if v.Name == rowOffsetField || v.Name == rowsField {
			return fmt.Errorf("%w: an item_id column cannot be named %q: %s has a field of that name", ErrSchema, v.Name, ItemsFile)
		}
		a, err := v.array()
		if err != nil {
			return err
		}
		fields, columns = append(fields, arrow.Field{Name: v.Name, Type: a.DataType()}), append(columns, a)
	}
	fields = append(fields, arrow.Field{Name: rowOffsetField, Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: rowsField, Type: arrow.PrimitiveTypes.Int64})
	columns = append(columns, int64Array(items.Offsets[:n]), int64Array(counts))

	path := filepath.Join(dir, ItemsFile)
	spans, sum, err := writeSmall(path, fields, columns, int64(n))
	if err != nil {
		return err
	}
	m.Items = ManifestItems{Count: int64(n), Values: []ItemPlace{}, XXH64: sum, RowOffset: Place{spans[rowOffsetField][0].offset}, Rows: Place{spans[rowsField][0].offset}}
	for _, v := range items.Values {
		p := ItemPlace{Name: v.Name, DType: Int64}
		if s := spans[v.Name]; v.Texts != nil {
			p.DType, p.TextPlace = Text, textPlace(s)
		} else {
			p.Place = Place{s[0].offset}
		}
		m.Items.Values = append(m.Items.Values, p)
	}
	return nil
}

func writeVocab(dir string, m *Manifest, column string, words []string) error {
	values, err := textArray(column, words)
	if err != nil {
		return err
	}
	file := VocabFile(column)
	spans, sum, err := writeSmall(filepath.Join(dir, file), []arrow.Field{{Name: valueField, Type: arrow.BinaryTypes.String}}, []arrow.Array{values}, int64(len(words)))
	if err != nil {
		return err
	}
	m.Vocab[column] = Words{File: file, Count: int64(len(words)), TextPlace: textPlace(spans[valueField]), XXH64: sum}
	return nil
}

func textPlace(s []span) TextPlace {
	return TextPlace{Offsets: s[0].offset, Data: s[1].offset, DataBytes: s[1].bytes}
}

// writeSmall writes an Arrow file whose values are in memory, and hashes its buffers.
func writeSmall(path string, fields []arrow.Field, columns []arrow.Array, rows int64) (map[string][]span, string, error) {
	f, err := writeArrow(path, fields, columns, rows, nil)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	spans, err := named(f, st.Size())
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	sum, err := hashBuffers(f)
	return spans, sum, err
}

// hashBuffers is the checksum of an Arrow file's record batch buffers, one after the other.
func hashBuffers(f *os.File) (string, error) {
	spans, err := locateFile(f)
	if err != nil {
		return "", err
	}
	h := xxhash.New()
	for _, s := range spans {
		b := make([]byte, s.bytes)
		if _, err := f.ReadAt(b, s.offset); err != nil {
			return "", err
		}
		h.Write(b)
	}
	return formatHash(h.Sum64()), nil
}

func (v ItemValues) array() (arrow.Array, error) {
	if v.Texts != nil {
		return textArray(v.Name, v.Texts)
	}
	return int64Array(v.Ints), nil
}

func int64Array(values []int64) arrow.Array {
	body := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))
	return array.MakeFromData(array.NewData(arrow.PrimitiveTypes.Int64, len(values), []*memory.Buffer{nil, body}, nil, 0, 0))
}

func textArray(column string, words []string) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	total := 0
	for _, w := range words {
		if total += len(w); total > math.MaxInt32 {
			return nil, fmt.Errorf("%w: the distinct texts of column %q take over 2 GiB", ErrSchema, column)
		}
		b.Append(w)
	}
	return b.NewArray(), nil
}
