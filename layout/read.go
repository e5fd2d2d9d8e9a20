package layout

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// View returns a column of an open generation as values of T, without a copy. T must have the size
// of the column's dtype. The values are valid until the caller releases its Acquire.
func View[T Native](d *Data, c *ManifestColumn) (Strided[T], error) {
	b, err := d.bytes(c)
	if err != nil {
		return Strided[T]{}, err
	}
	return Strided[T]{Data: cast[T](b), Step: c.Strides[0] / c.DType.Size(),
		Width: max(c.Width(), 1), Rows: c.Shape[0]}, nil
}

// bytes returns the bytes from the column's first value to its last one.
func (d *Data) bytes(c *ManifestColumn) ([]byte, error) {
	if c.Shape[0] == 0 {
		return nil, nil
	}
	return d.data.Bytes(c.Offset, (c.Shape[0]-1)*c.Strides[0]+c.rowBytes())
}

// ItemOffsets returns a copy of the items' first rows, followed by the number of rows.
func (d *Data) ItemOffsets() ([]int64, error) {
	n := d.Manifest.Items.Count
	b, err := d.items.Bytes(d.Manifest.Items.RowOffset.Offset, n*8)
	if err != nil {
		return nil, err
	}
	out := make([]int64, n+1)
	copy(out, cast[int64](b))
	out[n] = d.Manifest.Rows
	for i := range n {
		if out[i] < 0 || out[i] > out[i+1] || i == 0 && out[0] != 0 {
			return nil, fmt.Errorf("%w: %s: item %d begins at row %d", ErrTorn, d.Dir, i, out[i])
		}
	}
	return out, nil
}

// Item returns the name of an item: an int64 or string per item_id column, empty without item_id.
func (d *Data) Item(code int64) ([]any, error) {
	if code < 0 || code >= d.Manifest.Items.Count {
		return nil, fmt.Errorf("%w: item %d of %d", mmapfile.ErrRange, code, d.Manifest.Items.Count)
	}
	out := make([]any, 0, len(d.Manifest.Items.Values))
	for _, v := range d.Manifest.Items.Values {
		if v.DType == Text {
			s, err := v.TextPlace.word(d.items, code)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		b, err := d.items.Bytes(v.Offset+code*8, 8)
		if err != nil {
			return nil, err
		}
		out = append(out, cast[int64](b)[0])
	}
	return out, nil
}

// Word returns the text of a code of a text column.
func (d *Data) Word(column string, code int64) (string, error) {
	v, ok := d.Manifest.Vocab[column]
	if !ok {
		return "", fmt.Errorf("%w: %q has no vocabulary", ErrColumn, column)
	}
	if code < 0 || code >= v.Count {
		return "", fmt.Errorf("%w: word %d of %d", mmapfile.ErrRange, code, v.Count)
	}
	return v.TextPlace.word(d.vocab[column], code)
}

func (t TextPlace) word(m *mmapfile.Map, i int64) (string, error) {
	b, err := m.Bytes(t.Offsets+i*4, 8)
	if err != nil {
		return "", err
	}
	o := cast[int32](b)
	if o[0] < 0 || o[1] < o[0] || int64(o[1]) > t.DataBytes {
		return "", fmt.Errorf("%w: text %d lies outside its buffer", ErrTorn, i)
	}
	b, err = m.Bytes(t.Data+int64(o[0]), int64(o[1]-o[0]))
	return string(b), err
}

// Block returns columns that are interleaved in one field, in this order and without a gap, as one
// wide column. ok is false if they are not.
func Block[T Native](d *Data, columns []*ManifestColumn) (block Strided[T], ok bool, err error) {
	first, size := columns[0], columns[0].DType.Size()
	end := first.Offset
	for _, c := range columns {
		if c.Field != first.Field || c.DType != first.DType || c.Offset != end ||
			c.Strides[0] != first.Strides[0] {
			return Strided[T]{}, false, nil
		}
		end += max(c.Width(), 1) * size
	}
	wide := *first
	wide.Shape = []int64{first.Shape[0], (end - first.Offset) / size}
	block, err = View[T](d, &wide)
	return block, true, err
}

// Files returns the generation's data files, open for reading, and their names: data.arrow,
// items.arrow, then the vocabularies by column and the lists of cells that were missing before
// fills. The files are valid between Acquire and release, even if the generation was removed.
func (d *Data) Files() (names []string, files []*os.File) {
	names, files = []string{DataFile, ItemsFile}, []*os.File{d.data.File(), d.items.File()}
	for _, column := range slices.Sorted(maps.Keys(d.Manifest.Vocab)) {
		names, files = append(names, d.Manifest.Vocab[column].File),
			append(files, d.vocab[column].File())
	}
	for _, name := range slices.Sorted(maps.Keys(d.listMaps)) {
		names, files = append(names, name), append(files, d.listMaps[name].File())
	}
	return names, files
}

// Dense returns a contiguous copy of a column's rows [from, to).
func (d *Data) Dense(c *ManifestColumn, from, to int64) ([]byte, error) {
	if from < 0 || to < from || to > c.Shape[0] {
		return nil, fmt.Errorf("%w: rows %d to %d of %d", mmapfile.ErrRange, from, to, c.Shape[0])
	}
	b, err := d.bytes(c)
	if err != nil {
		return nil, err
	}
	row := c.rowBytes()
	out := make([]byte, 0, (to-from)*row)
	eachBlock(b, c.Strides[0], row, from, to, func(block []byte) { out = append(out, block...) })
	return out, nil
}

// Words returns the texts of codes. If a text is missing, missing[i] is true and the text is empty.
func (d *Data) Words(column string, codes []byte) (words []string, missing []bool, err error) {
	values := cast[int32](codes)
	words, missing = make([]string, len(values)), make([]bool, len(values))
	for i, code := range values {
		if missing[i] = code < 0; missing[i] {
			continue
		}
		if words[i], err = d.Word(column, int64(code)); err != nil {
			return nil, nil, err
		}
	}
	return words, missing, nil
}

// WriteStream writes the rows [from, to) of columns as an Arrow IPC stream of one batch: texts as
// strings (null if missing), bool as booleans, a column of shape [rows, n] as a fixed-size list.
// NaN stays NaN.
func (d *Data) WriteStream(w io.Writer, columns []*ManifestColumn, from, to int64) error {
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, c := range columns {
		values, err := d.arrowValues(c, from, to)
		if err != nil {
			return err
		}
		if n := c.Width(); n > 0 {
			list := arrow.FixedSizeListOf(int32(n), values.DataType())
			values = array.MakeFromData(array.NewData(list, int(to-from), []*memory.Buffer{nil},
				[]arrow.ArrayData{values.Data()}, 0, 0))
		}
		fields[i], arrays[i] = arrow.Field{Name: c.Name, Type: values.DataType(),
			Nullable: true}, values
	}
	schema := arrow.NewSchema(fields, nil)
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	if err := out.Write(array.NewRecord(schema, arrays, to-from)); err != nil {
		return err
	}
	return out.Close()
}

// arrowValues returns all values of the rows [from, to) as one flat array.
func (d *Data) arrowValues(c *ManifestColumn, from, to int64) (arrow.Array, error) {
	b, err := d.Dense(c, from, to)
	if err != nil {
		return nil, err
	}
	switch c.DType {
	case Text:
		words, missing, err := d.Words(c.Name, b)
		if err != nil {
			return nil, err
		}
		builder := array.NewStringBuilder(memory.DefaultAllocator)
		defer builder.Release()
		for i, word := range words {
			if missing[i] {
				builder.AppendNull()
			} else {
				builder.Append(word)
			}
		}
		return builder.NewArray(), nil
	case Bool:
		bits := make([]byte, bitutil.BytesForBits(int64(len(b))))
		for i, v := range b {
			bitutil.SetBitTo(bits, i, v != 0)
		}
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(bits)}
		return array.MakeFromData(array.NewData(arrow.FixedWidthTypes.Boolean, len(b), buffers,
			nil, 0, 0)), nil
	}
	n := len(b) / int(c.DType.Size())
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(b)}
	return array.MakeFromData(array.NewData(arrowType(c.DType, c.Unit, c.Zone), n, buffers,
		nil, 0, 0)), nil
}
