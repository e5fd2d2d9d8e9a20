package numpy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// NpyMagic is the first bytes of every .npy file.
const NpyMagic = "\x93NUMPY"

// maxHeaderBytes is the largest supported header of a .npy file. The header of an array with 10,000
// fields has 300 kB.
const maxHeaderBytes = 1 << 20

// npyColumn is the column of a NumPy array, or of one field of an array of records.
type npyColumn struct {
	put.Column
	textType    byte  // 'U' or 'S' for texts of fixed length, else 0
	size        int64 // bytes of a value
	recordBytes int64 // bytes of a record, 0 if the array has no records
	offset      int64 // of the field in the record, in bytes
	swap        bool  // the values are big-endian
	columnMajor bool  // the values are in Fortran order
	// factor multiplies a time to convert it to Unit. 0 and 1 mean no conversion.
	factor      int64
	refusal     *loaderr.SourceError          // why the column cannot be loaded; nil if it can
	open        func() (io.ReadCloser, error) // opens the stream of the array, including its header
	headerBytes int64                         // bytes of the header
}

// npyTypes maps NumPy's letter and size of a dtype to the name that layout uses.
var npyTypes = map[string]string{
	"f2": "float16", "f4": "float32", "f8": "float64", "b1": "bool",
	"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
	"u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}

// npyUnits maps the units of datetime64 to the stored unit of which they are a multiple, and the
// factor.
var npyUnits = map[string]struct {
	unit   string
	factor int64
}{
	"W": {"s", 7 * 86400}, "D": {"s", 86400}, "h": {"s", 3600}, "m": {"s", 60}, "s": {"s", 1},
	"ms": {"ms", 1}, "us": {"us", 1}, "ns": {"ns", 1},
}

// readNpyHeader reads the header of a stream of total bytes and returns its columns. name is the
// column's name if the array has no fields.
//
// A column that cannot be loaded is not an error here. Its refusal is returned when it is wanted.
func readNpyHeader(r io.Reader, total int64, name string) ([]npyColumn, error) {
	text, head, err := readHeaderText(r, total)
	if err != nil {
		return nil, err
	}
	damaged := func(why any) error {
		return &loaderr.SourceError{
			Text:   strings.TrimSpace(text),
			Reason: fmt.Sprintf("is not a header of a NumPy array: %v", why),
			Hint:   loaderr.HintDamaged,
		}
	}
	v, err := parseLiteral(text)
	if err != nil {
		return nil, damaged(err)
	}
	dict, _ := v.(map[string]any)
	fortran, ok1 := dict["fortran_order"].(bool)
	dims, ok2 := dict["shape"].(tuple)
	descr, ok3 := dict["descr"]
	if !ok1 || !ok2 || !ok3 || len(dict) != 3 {
		return nil, damaged("want descr, fortran_order and shape")
	}
	shape, cells := make([]int64, len(dims)), float64(1)
	for i, d := range dims {
		n, ok := d.(int64)
		if !ok || n < 0 {
			return nil, damaged("the shape")
		}
		shape[i], cells = n, cells*float64(n)
	}
	columns, record, err := parseColumns(descr, name, shape, fortran)
	if refused := (*loaderr.SourceError)(nil); errors.As(err, &refused) {
		return nil, refused
	} else if err != nil {
		return nil, damaged(err)
	}
	if want := cells * float64(record); record > 0 &&
		(want > math.MaxInt64 || int64(want) != total-head) {
		if want <= float64(total-head) && anotherArray(r, int64(want)) {
			return nil, &loaderr.SourceError{
				Reason: "holds several arrays, one behind the other, want one",
				Hint:   "write each into a file of its own, or all with np.savez",
			}
		}
		return nil, &loaderr.SourceError{
			Reason: fmt.Sprintf("holds %d bytes of values, its header says %.0f", total-head, want),
			Hint:   loaderr.HintDamaged,
		}
	}
	for i := range columns {
		columns[i].headerBytes = head
	}
	return columns, nil
}

// anotherArray reports whether another array follows the values of an array. r is at the first
// value, and size is the number of bytes of the values. NumPy appends arrays to an open file.
func anotherArray(r io.Reader, size int64) bool {
	magic := make([]byte, len(NpyMagic))
	if _, err := io.CopyN(io.Discard, r, size); err != nil {
		return false
	}
	_, err := io.ReadFull(r, magic)
	return err == nil && string(magic) == NpyMagic
}

// readHeaderText returns the header's text and head, the number of bytes before the values. total
// is the number of bytes of the stream.
func readHeaderText(r io.Reader, total int64) (text string, head int64, err error) {
	truncated := &loaderr.SourceError{Reason: "is cut off: its header does not end",
		Hint: loaderr.HintDamaged}
	readError := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return truncated
		}
		return unreadable(err)
	}
	preamble := make([]byte, len(NpyMagic)+2+4)
	if _, err := io.ReadFull(r, preamble[:10]); err != nil {
		return "", 0, readError(err)
	}
	major := preamble[len(NpyMagic)]
	if string(preamble[:len(NpyMagic)]) == NpyMagic && major > 3 && major < 10 {
		return "", 0, &loaderr.SourceError{
			Reason: fmt.Sprintf("is a NumPy array of version %d, want 1, 2 or 3", major),
			Hint:   "write it with np.lib.format.write_array and version=(1, 0)",
		}
	}
	if string(preamble[:len(NpyMagic)]) != NpyMagic || major < 1 || major > 3 {
		return "", 0, &loaderr.SourceError{
			Reason: "does not begin as a NumPy array of version 1, 2 or 3",
			Hint:   loaderr.HintDamaged,
		}
	}
	length := int64(binary.LittleEndian.Uint16(preamble[8:]))
	head = 10
	if major > 1 {
		if _, err := io.ReadFull(r, preamble[10:]); err != nil {
			return "", 0, readError(err)
		}
		length, head = int64(binary.LittleEndian.Uint32(preamble[8:])), 12
	}
	if head += length; head > total {
		return "", 0, truncated
	}
	if length > maxHeaderBytes {
		return "", 0, &loaderr.SourceError{
			Reason: fmt.Sprintf("has a header of %d bytes, at most %d", length, maxHeaderBytes),
			Hint:   loaderr.HintDamaged,
		}
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", 0, readError(err)
	}
	if major == 3 {
		return string(b), head, nil
	}
	runes := make([]rune, len(b)) // Latin-1
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes), head, nil
}

// parseColumns returns the columns of an array and the number of bytes of one of its elements, 0 if
// it is not known.
func parseColumns(descr any, name string, shape []int64, fortran bool) ([]npyColumn, int64, error) {
	if d, ok := descr.(string); ok {
		c := parseDType(d)
		c.Name, c.Shape, c.columnMajor = name, shape, fortran && len(shape) == 2 && shape[1] > 1
		c.finish()
		return []npyColumn{c}, c.size, nil
	}
	fields, ok := descr.([]any)
	if !ok || len(fields) == 0 {
		return nil, 0, fmt.Errorf("the dtype %v", descr)
	}
	var out []npyColumn
	var record int64
	for _, f := range fields {
		t, ok := f.(tuple)
		if !ok || len(t) < 2 || len(t) > 3 {
			return nil, 0, fmt.Errorf("the field %v", f)
		}
		if titled, ok := t[0].(tuple); ok && len(titled) == 2 {
			t[0] = titled[1]
		}
		field, ok1 := t[0].(string)
		d, ok2 := t[1].(string)
		if !ok1 {
			return nil, 0, fmt.Errorf("the field %v", f)
		}
		if !ok2 {
			return nil, 0, fmt.Errorf("the field %q is made of fields, which is not read", field)
		}
		c := parseDType(d)
		c.Name, c.Shape, c.offset = field, shape[:min(1, len(shape)):min(1, len(shape))], record
		values := int64(1)
		if len(t) == 3 {
			dims, ok := t[2].(tuple)
			if !ok {
				return nil, 0, fmt.Errorf("the shape of field %q", field)
			}
			for _, d := range dims {
				n, ok := d.(int64)
				if !ok || n < 0 || n > math.MaxInt32/values {
					return nil, 0, fmt.Errorf("the shape of field %q", field)
				}
				values *= max(1, n)
				c.Shape = append(c.Shape, n)
			}
		}
		if c.size == 0 {
			c.refusal.Column = field
			return nil, 0, c.refusal
		}
		if record += c.size * values; record > math.MaxInt32 {
			return nil, 0, fmt.Errorf("records of %d bytes", record)
		}
		if field != "" || d[1] != 'V' { // padding has no name
			out = append(out, c)
		}
	}
	for i := range out {
		if out[i].recordBytes = record; len(shape) != 1 && out[i].refusal == nil {
			out[i].refusal = &loaderr.SourceError{
				Reason: fmt.Sprintf("is of records in shape %v, want [rows]", shape),
			}
		}
		out[i].finish()
	}
	return out, record, nil
}

// finish sets Bytes from the dtype and shape. It sets refusal if the column cannot be loaded.
func (c *npyColumn) finish() {
	values := int64(1)
	for _, n := range c.Shape {
		if n > 0 && values > math.MaxInt64/n/max(1, c.size) {
			// No file has that many bytes, so the shape also contains a 0, which is refused below.
			values = 0
			break
		}
		values *= n
	}
	c.Bytes = values * c.size
	switch {
	case c.refusal != nil:
	case len(c.Shape) == 0:
		c.refusal = &loaderr.SourceError{Reason: "is a single value, want [rows] or [rows, n]"}
	case len(c.Shape) > 2:
		c.refusal = &loaderr.SourceError{
			Reason: fmt.Sprintf("has shape %v, want [rows] or [rows, n]", c.Shape),
			Hint:   "reshape it to [rows, n], or leave it out with `columns`",
		}
	case c.textType != 0 && len(c.Shape) > 1:
		c.refusal = &loaderr.SourceError{
			Reason: fmt.Sprintf("is text of shape %v, want [rows]", c.Shape),
		}
	case c.textType == 0:
		if err := c.Check(); err != nil {
			c.refusal = &loaderr.SourceError{Reason: err.Error()}
		}
	}
}

// parseDType parses a dtype as NumPy writes it, for example <f8, >i4, |b1, <M8[ns] or <U12. The
// result has a refusal if the dtype cannot be loaded. Its size is then 0 if the size is not known.
func parseDType(d string) npyColumn {
	unsupported := func(reason, hint string) npyColumn {
		digits := strings.TrimLeftFunc(d, func(r rune) bool { return r < '0' || r > '9' })
		size, _ := strconv.ParseInt(
			digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))], 10, 31)
		return npyColumn{size: size, refusal: &loaderr.SourceError{
			Reason: fmt.Sprintf("has dtype %q, %s", d, reason), Hint: hint,
		}}
	}
	damaged := npyColumn{refusal: &loaderr.SourceError{
		Reason: fmt.Sprintf("has dtype %q, which is none of NumPy's", d), Hint: loaderr.HintDamaged,
	}}
	if len(d) < 2 || strings.IndexByte("<>|=", d[0]) < 0 {
		return damaged
	}
	order, letter, rest := d[0], d[1], d[2:]
	c := npyColumn{swap: order == '>'}
	if name, ok := npyTypes[d[1:]]; ok {
		c.DType, c.size = name, layout.DType(name).Size()
		return c
	}
	switch letter {
	case 'O':
		return unsupported("Python objects, which are never read: they can run any program",
			"convert it with astype before np.save")
	case 'U', 'S':
		n, err := strconv.ParseInt(rest, 10, 32)
		if err != nil || n < 0 {
			return damaged
		}
		c.DType, c.textType, c.size = "utf8", letter, n
		if letter == 'U' {
			c.size = 4 * n
		}
		if c.size == 0 {
			c.refusal = &loaderr.SourceError{Reason: "is text of length 0"}
		}
		return c
	case 'M', 'm':
		size, unit, _ := strings.Cut(strings.TrimSuffix(rest, "]"), "[")
		count := strings.TrimRight(unit, "YMWDhmsunpfa")
		u, ok := npyUnits[unit[len(count):]]
		c.DType, c.size, c.Unit, c.factor = string(layout.Timestamp), 8, u.unit, u.factor
		if letter == 'm' {
			c.DType = string(layout.Duration)
		}
		if n, err := strconv.ParseInt(count, 10, 32); err == nil && n > 0 {
			c.factor *= n
		} else if count != "" {
			ok = false
		}
		if size != "8" || !ok {
			c = unsupported("which is not read",
				fmt.Sprintf("convert it with astype(%q) before np.save",
					map[byte]string{'M': "datetime64[ns]", 'm': "timedelta64[ns]"}[letter]))
			c.size = 8
		}
		return c
	}
	return unsupported("which is not read",
		"convert it with astype, or leave it out with `columns`")
}
