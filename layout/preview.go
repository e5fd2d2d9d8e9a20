package layout

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// Dense copies a column's rows [from, to), one behind the other.
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
	tiles(b, c.Strides[0], row, from, to, func(block []byte) { out = append(out, block...) })
	return out, nil
}

// Words are the texts that codes stand for; missing[i] is true, and the text empty, where there is none.
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

// WriteStream writes the rows [from, to) of columns as an Arrow IPC stream of one batch: texts as words (null where there is none),
// bool as booleans, a column of shape [rows, n] as a fixed-size list. NaN stays NaN.
func (d *Data) WriteStream(w io.Writer, columns []*ManifestColumn, from, to int64) error {
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, c := range columns {
		values, err := d.arrowValues(c, from, to)
		if err != nil {
			return err
		}
		if n := c.Width(); n > 0 {
			list := arrow.FixedSizeListOf(int32(n), values.DataType())
			values = array.MakeFromData(array.NewData(list, int(to-from), []*memory.Buffer{nil}, []arrow.ArrayData{values.Data()}, 0, 0))
		}
		fields[i], arrays[i] = arrow.Field{Name: c.Name, Type: values.DataType(), Nullable: true}, values
	}
	schema := arrow.NewSchema(fields, nil)
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	if err := out.Write(array.NewRecord(schema, arrays, to-from)); err != nil {
		return err
	}
	return out.Close()
}

// arrowValues are all values of the rows, those of a wide column one behind the other.
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
		return array.MakeFromData(array.NewData(arrow.FixedWidthTypes.Boolean, len(b), []*memory.Buffer{nil, memory.NewBufferBytes(bits)}, nil, 0, 0)), nil
	}
	n := len(b) / int(c.DType.Size())
	return array.MakeFromData(array.NewData(arrowType(c.DType, c.Unit, c.Zone), n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)), nil
}
