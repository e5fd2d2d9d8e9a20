package layout

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// ItemNames are the names of a generation's items, read in place from items.arrow. It is immutable and safe for concurrent
// use while the caller holds an Acquire; its methods do not allocate.
type ItemNames struct {
	count  int64
	values []itemValues
}

// itemValues are one item_id column: ints, or text where bounds is not nil.
type itemValues struct {
	ints   []int64
	bounds []int32 // text i is text[bounds[i]:bounds[i+1]]
	text   []byte
}

// ItemNames maps the items' names; the error wraps ErrTorn where a text lies outside its buffer.
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
				return nil, fmt.Errorf("%w: %s: text %d of %q lies outside its buffer", ErrTorn, d.Dir, i, v.Name)
			}
			last = t.bounds[i]
		}
		n.values = append(n.values, t)
	}
	return n, nil
}

// Len is the number of items.
func (n *ItemNames) Len() int64 { return n.count }

// AppendJSON appends an item's name in its canonical form: null without item_id, an integer or a text ([AppendJSONText]) with
// one id column, and with several a list of them without spaces. It panics unless 0 ≤ code < Len.
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

// AppendText appends an item's name as it is read: an integer or a text, with several id columns one after the other with ", "
// between; nothing without item_id. It panics unless 0 ≤ code < Len.
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

// Hash is the xxHash64 (seed 0) of an item's name in its canonical form: by it an item falls into the same part of a split by
// fractions of items everywhere.
func (n *ItemNames) Hash(code int64) uint64 {
	var room [96]byte
	return xxhash.Sum64(n.AppendJSON(room[:0], code))
}

// AppendJSONText appends a text in quotes, in the one form that is hashed: UTF-8 as it is, but for \" and \\, the control
// characters below U+0020 (\b, \f, \n, \r and \t, others as \u00xx in small letters), U+2028 and U+2029 (\u2028, \u2029), and
// \ufffd for each byte that is no UTF-8. So encoding/json writes it without escapes of HTML.
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
