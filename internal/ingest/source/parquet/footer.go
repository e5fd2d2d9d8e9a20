package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// signatureBytes is the length of the signature that follows the footer of a file with encrypted
// columns and a footer in plain text.
const signatureBytes = 28

// maxSchemaDepth is the largest depth of nested columns.
const maxSchemaDepth = 128

// Fields of FileMetaData, RowGroup, ColumnChunk, ColumnMetaData and KeyValue in parquet.thrift.
const (
	fileRowGroups   = 4
	fileKeyValues   = 5
	fileEncryption  = 8
	groupColumns    = 1
	chunkMetaData   = 3
	columnKeyValues = 8
	keyValueValue   = 2
)

// readFooter reads a footer of n bytes and checks it, because parquet-go allocates what a footer
// declares, and takes a column of an unknown type for a column of nulls. It returns the file as
// parquet-go reads it: with a footer of the same contents if parquet-go refuses a valid one, and as
// several files if it has more than maxColumns columns with values.
func readFooter(f io.ReaderAt, size, n int64, maxColumns int) ([]view, error) {
	b := make([]byte, n)
	begin := size - 8 - n
	if _, err := f.ReadAt(b, begin); err != nil {
		return nil, err
	}
	plain, err := plainFooter(b)
	if err != nil {
		return nil, err
	}
	columns, err := checkOutline(plain)
	if err != nil {
		return nil, err
	}
	footers := [][]byte{plain}
	if columns > maxColumns {
		if footers, err = footerParts(plain, maxColumns); err != nil {
			return nil, err
		}
	} else if len(plain) == len(b) {
		return []view{{f, size}}, nil
	}
	views := make([]view, len(footers))
	for i, footer := range footers {
		end := append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), Magic...)
		views[i] = view{&replacedEnd{f, begin, end}, begin + int64(len(end))}
	}
	return views, nil
}

// view is a file as parquet-go reads it.
type view struct {
	io.ReaderAt
	size int64
}

// plainFooter returns the footer b as parquet-go reads it: without a signature, and with an empty
// value for each key without a value. It returns b itself if nothing is to be changed.
func plainFooter(b []byte) ([]byte, error) {
	var missing []int // offsets of the stop bytes of keys without a value
	signed := false
	w := compactWalker{bytes: b}
	w.stop = func(has uint64) {
		if len(w.path) == 0 {
			signed = has&(1<<fileEncryption) != 0
		}
		ofFile := slices.Equal(w.path, []int16{fileKeyValues})
		ofColumn := slices.Equal(w.path,
			[]int16{fileRowGroups, groupColumns, chunkMetaData, columnKeyValues})
		if (ofFile || ofColumn) && has&(1<<keyValueValue) == 0 {
			missing = append(missing, w.at)
		}
	}
	if err := w.walkStruct(); err != nil {
		return nil, err
	}
	if left := len(b) - w.at; left != 0 && !(signed && left == signatureBytes) {
		return nil, fmt.Errorf("%d other bytes follow its values", left)
	}
	b = b[:w.at]
	if len(missing) == 0 {
		return b, nil
	}
	// An empty text: its type, its field as a zigzag integer, and its length.
	empty := []byte{compactBinary, keyValueValue << 1, 0}
	out, from := make([]byte, 0, len(b)+len(missing)*len(empty)), 0
	for _, at := range missing {
		out = append(append(out, b[from:at]...), empty...)
		from = at
	}
	return append(out, b[from:]...), nil
}

// replacedEnd is a file whose bytes from an offset on are replaced.
type replacedEnd struct {
	io.ReaderAt
	begin int64
	end   []byte
}

// ReadAt reads from offset at.
func (r *replacedEnd) ReadAt(p []byte, at int64) (n int, err error) {
	if at < r.begin {
		n, err = r.ReaderAt.ReadAt(p[:min(int64(len(p)), r.begin-at)], at)
		if n == len(p) || err != nil {
			return n, err
		}
	}
	if from := at + int64(n) - r.begin; from < int64(len(r.end)) {
		n += copy(p[n:], r.end[from:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// outline is the part of a footer that is checked before parquet-go reads it.
type outline struct {
	Schema    []format.SchemaElement `thrift:"2,required"`
	RowGroups []struct {
		Columns []struct{} `thrift:"1,required"`
	} `thrift:"4,required"`
}

// checkOutline checks the schema of a footer, and that each row group has all its columns. It
// returns the number of columns with values.
func checkOutline(b []byte) (columns int, err error) {
	var o outline
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), b, &o); err != nil {
		return 0, err
	}
	if columns, err = checkSchema(o.Schema); err != nil {
		return 0, err
	}
	for i, g := range o.RowGroups {
		if len(g.Columns) != columns {
			return 0, fmt.Errorf("row group %d has %d columns, the schema has %d", i+1,
				len(g.Columns), columns)
		}
	}
	return columns, nil
}

// checkSchema checks the elements of a schema and returns the number of columns with values. Types
// that the format does not have are left to columnTypeOf, which refuses the column.
func checkSchema(elements []format.SchemaElement) (columns int, err error) {
	if len(elements) == 0 {
		return 0, fmt.Errorf("its schema has no element")
	}
	left := []int64{1} // children that follow, by depth
	for i := range elements {
		e := &elements[i]
		for len(left) > 0 && left[len(left)-1] == 0 {
			left = left[:len(left)-1]
		}
		if len(left) == 0 {
			return 0, fmt.Errorf("its schema has %d elements, want %d", len(elements), i)
		}
		left[len(left)-1]--
		if e.NumChildren.V < 0 || e.Type.Valid && e.NumChildren.V > 0 {
			return 0, fmt.Errorf("its schema has an element %q of type %s with %d children",
				e.Name, e.Type.V, e.NumChildren.V)
		}
		if e.Type.Valid {
			columns++
			err = checkElement(e)
		}
		if r := e.RepetitionType; i > 0 && r.Valid && (r.V < 0 || r.V > format.Repeated) {
			err = fmt.Errorf("its schema has a column %q of the unknown repetition %d", e.Name, r.V)
		}
		if err != nil {
			return 0, err
		}
		if n := int64(e.NumChildren.V); n > 0 {
			left = append(left, n)
		}
		if len(left) > maxSchemaDepth {
			return 0, fmt.Errorf("its schema has columns nested deeper than %d", maxSchemaDepth)
		}
	}
	for _, n := range left {
		if n > 0 {
			return 0, fmt.Errorf("its schema has %d elements, want more", len(elements))
		}
	}
	return columns, nil
}

// checkElement refuses a column on which parquet-go panics, or which it takes for one of nulls.
func checkElement(e *format.SchemaElement) error {
	_, decimal := e.LogicalType.Value.(*format.DecimalType)
	decimal = decimal || e.LogicalType.Value == nil && e.ConvertedType.Valid &&
		e.ConvertedType.V == deprecated.Decimal
	switch e.Type.V {
	case format.FixedLenByteArray:
		if !e.TypeLength.Valid || e.TypeLength.V < 0 {
			return fmt.Errorf("its schema has a column %q of fixed length without a length", e.Name)
		}
	case format.Int32, format.Int64, format.ByteArray:
	default:
		if decimal {
			return fmt.Errorf("its schema has a column %q of decimals in %s", e.Name, e.Type.V)
		}
	}
	return nil
}
