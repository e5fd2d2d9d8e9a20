package layout

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// Items are the items of a generation, in the order of their first rows.
type Items struct {
	// Offsets are the items' first rows, followed by the number of all rows.
	Offsets []int64
	// Values are the names of the items: one entry per item_id column.
	Values []ItemValues
}

// ItemValues are the values of one item_id column, one per item: Texts for a text column, else
// Ints.
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

// writeItems writes items.arrow and sets the offsets of its buffers in the manifest.
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
			return fmt.Errorf(
				"%w: an item_id column cannot be named %q: %s has a field of that name",
				ErrSchema, v.Name, ItemsFile)
		}
		a, err := v.array()
		if err != nil {
			return err
		}
		fields, columns = append(fields, arrow.Field{Name: v.Name, Type: a.DataType()}),
			append(columns, a)
	}
	fields = append(fields, arrow.Field{Name: rowOffsetField, Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: rowsField, Type: arrow.PrimitiveTypes.Int64})
	columns = append(columns, int64Array(items.Offsets[:n]), int64Array(counts))

	path := filepath.Join(dir, ItemsFile)
	spans, sum, err := writeSmall(path, fields, columns, int64(n))
	if err != nil {
		return err
	}
	m.Items = ManifestItems{
		Count: int64(n), Values: []ItemPlace{}, XXH64: sum,
		RowOffset: Place{spans[rowOffsetField][0].Offset}, Rows: Place{spans[rowsField][0].Offset},
	}
	for _, v := range items.Values {
		p := ItemPlace{Name: v.Name, DType: Int64}
		if s := spans[v.Name]; v.Texts != nil {
			p.DType, p.TextPlace = Text, textPlace(s)
		} else {
			p.Place = Place{s[0].Offset}
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
	fields := []arrow.Field{{Name: valueField, Type: arrow.BinaryTypes.String}}
	spans, sum, err := writeSmall(filepath.Join(dir, file), fields, []arrow.Array{values},
		int64(len(words)))
	if err != nil {
		return err
	}
	m.Vocab[column] = Words{File: file, Count: int64(len(words)),
		TextPlace: textPlace(spans[valueField]), XXH64: sum}
	return nil
}

func textPlace(s []arrowfile.Span) TextPlace {
	return TextPlace{Offsets: s[0].Offset, Data: s[1].Offset, DataBytes: s[1].Bytes}
}

// writeSmall writes an Arrow file whose values are in memory, and returns its buffers and their
// checksum.
func writeSmall(path string, fields []arrow.Field, columns []arrow.Array,
	rows int64) (map[string][]arrowfile.Span, string, error) {
	f, err := arrowfile.Create(path, fields, columns, rows, nil)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	spans, err := arrowfile.FieldBuffers(f, st.Size())
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	sum, err := hashBuffers(f)
	return spans, sum, err
}

func (v ItemValues) array() (arrow.Array, error) {
	if v.Texts != nil {
		return textArray(v.Name, v.Texts)
	}
	return int64Array(v.Ints), nil
}

func int64Array(values []int64) arrow.Array {
	body := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))
	return array.MakeFromData(array.NewData(arrow.PrimitiveTypes.Int64, len(values),
		[]*memory.Buffer{nil, body}, nil, 0, 0))
}

func textArray(column string, words []string) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	total := 0
	for _, w := range words {
		if total += len(w); total > math.MaxInt32 {
			return nil, fmt.Errorf("%w: the distinct texts of column %q take over 2 GiB",
				ErrSchema, column)
		}
		b.Append(w)
	}
	return b.NewArray(), nil
}

// ItemNames are the names of a generation's items, read in place from items.arrow. It is immutable
// and safe for concurrent use until the caller releases its Acquire. Its methods do not allocate.
type ItemNames struct {
	count  int64
	values []itemValues
}

// itemValues is one item_id column: text if bounds is not nil, else ints.
type itemValues struct {
	ints   []int64
	bounds []int32 // text i is text[bounds[i]:bounds[i+1]]
	text   []byte
}

// ItemNames returns the items' names. The error wraps ErrTorn if a text is outside its buffer.
func (d *Data) ItemNames() (*ItemNames, error) {
	n := &ItemNames{count: d.Manifest.Items.Count}
	if n.count == 0 {
		return n, nil
	}
	for _, v := range d.Manifest.Items.Values {
		if v.DType != Text {
			b, err := d.items.Bytes(v.Offset, n.count*8)
			if err != nil {
				return nil, err
			}
			n.values = append(n.values, itemValues{ints: cast[int64](b)})
			continue
		}
		b, err := d.items.Bytes(v.Offsets, (n.count+1)*4)
		if err != nil {
			return nil, err
		}
		t := itemValues{bounds: cast[int32](b)}
		if t.text, err = d.items.Bytes(v.Data, v.DataBytes); err != nil {
			return nil, err
		}
		for i, last := 0, int32(0); i < len(t.bounds); i++ {
			if t.bounds[i] < last || int64(t.bounds[i]) > v.DataBytes {
				return nil, fmt.Errorf("%w: %s: text %d of %q lies outside its buffer", ErrTorn,
					d.Dir, i, v.Name)
			}
			last = t.bounds[i]
		}
		n.values = append(n.values, t)
	}
	return n, nil
}

// Len returns the number of items.
func (n *ItemNames) Len() int64 { return n.count }

// AppendJSON appends an item's name in its canonical form. This is null without item_id, an integer
// or a text ([AppendJSONText]) with one id column, and a list of them without spaces with several.
// It panics unless 0 ≤ code < Len.
func (n *ItemNames) AppendJSON(dst []byte, code int64) []byte {
	switch len(n.values) {
	case 0:
		return append(dst, "null"...)
	case 1:
		return n.values[0].appendJSON(dst, code)
	}
	for i := range n.values {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		dst = n.values[i].appendJSON(append(dst, separator), code)
	}
	return append(dst, ']')
}

func (v *itemValues) appendJSON(dst []byte, code int64) []byte {
	if v.bounds == nil {
		return strconv.AppendInt(dst, v.ints[code], 10)
	}
	return AppendJSONText(dst, v.text[v.bounds[code]:v.bounds[code+1]])
}

// AppendText appends an item's name for people to read: an integer or a text. With several id
// columns it joins them with ", ". Without item_id it appends nothing. It panics unless 0 ≤ code <
// Len.
func (n *ItemNames) AppendText(dst []byte, code int64) []byte {
	for i := range n.values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if v := &n.values[i]; v.bounds == nil {
			dst = strconv.AppendInt(dst, v.ints[code], 10)
		} else {
			dst = append(dst, v.text[v.bounds[code]:v.bounds[code+1]]...)
		}
	}
	return dst
}

// Hash returns the xxHash64 (seed 0) of an item's name in its canonical form. A split by fractions
// of items uses it, so that an item is in the same part in every dataset.
func (n *ItemNames) Hash(code int64) uint64 {
	var buffer [96]byte
	return xxhash.Sum64(n.AppendJSON(buffer[:0], code))
}

// AppendJSONText appends a text in quotes, in the one form that is hashed. It writes UTF-8
// unchanged, with these exceptions:
//
//   - \" and \\.
//   - The control characters below U+0020: \b, \f, \n, \r and \t, others as \u00xx in lower case.
//   - U+2028 and U+2029: \u2028 and \u2029.
//   - A byte that is not valid UTF-8: \ufffd.
//
// encoding/json writes the same without HTML escapes.
func AppendJSONText[S string | []byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\b':
				dst = append(dst, `\b`...)
			case '\f':
				dst = append(dst, `\f`...)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			case '\t':
				dst = append(dst, `\t`...)
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			}
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if bad := r == utf8.RuneError && size == 1; bad || r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[from:i]...)
			if bad {
				dst = append(dst, `\ufffd`...)
			} else {
				dst = append(dst, `\u202`...)
				dst = append(dst, hex[r&0xf])
			}
			from = i + size
		}
		i += size
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
