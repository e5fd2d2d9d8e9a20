package jsonl

import (
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns the text of a string. It appends a text with escapes to buf[:0]. ok is false if
// an escape is half of a surrogate pair, which no text can have.
func (v value) decoded(buf []byte) (text, grown []byte, ok bool) {
	if !v.escaped {
		return v.raw, buf, true
	}
	buf = buf[:0]
	for b := v.raw; len(b) > 0; {
		if b[0] != '\\' {
			buf, b = append(buf, b[0]), b[1:]
			continue
		}
		c, n := escapes[b[1]], 2
		if b[1] == 'u' {
			r, _ := hex4(b[2:])
			n = 6
			if utf16.IsSurrogate(r) {
				low := rune(0)
				if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
					low, _ = hex4(b[8:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return nil, buf, false
				}
				n = 12
			}
			buf = utf8.AppendRune(buf, r)
		} else {
			buf = append(buf, c)
		}
		b = b[n:]
	}
	return buf, buf, true
}

// escapes are the characters that two-byte escapes stand for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// faultSurrogate is the fault of a text with half of a surrogate pair.
func faultSurrogate() *fault {
	return &fault{reason: "has half of a surrogate pair, which is not a character",
		hint: "write the character itself, or both halves"}
}
