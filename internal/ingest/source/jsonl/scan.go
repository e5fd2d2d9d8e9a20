package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// Functions that scan need a buffer in which a line feed ends the line, and [pad] bytes after it.

// pad is the number of bytes after the last line that functions may read.
const pad = 8

// maxDepth is the largest depth of arrays and objects in a value that is ignored.
const maxDepth = 1 << 10

// kind is the type of a JSON value.
type kind uint8

const (
	null kind = iota
	boolean
	integer // a number without fraction and exponent
	decimal // any other number
	text
	array
	object
)

// value is a JSON value.
type value struct {
	kind    kind
	escaped bool   // of a text: raw has escapes
	raw     []byte // as the file writes it; a text is without its quotes
}

// fault is what is wrong with a row.
type fault struct {
	key          string // whose value is wrong; "" if it is not known
	text         string // that is wrong, "" for none
	reason, hint string
	atEnd        bool // the fault is at the end of the line, so that the file may be cut off there
}

// quoted returns the fault of a text of the file.
func quoted(buf []byte, i, end int, reason, hint string) *fault {
	const most = 200
	return &fault{text: string(buf[i:min(end, i+most)]), reason: reason, hint: hint,
		atEnd: buf[end] == '\n'}
}

// Hints of faults.
const (
	hintLine   = "write each row as one JSON object on a line of its own"
	hintNumber = "write numbers as JSON does, such as -0.5 or 1e9, and null for a missing value"
	hintValue  = hintNumber + "; booleans are true and false, and text is in double quotes"
	hintUTF8   = "save the file as UTF-8"
)

// skipSpace returns the offset of the first byte from i on that is not white space within a line.
func skipSpace(buf []byte, i int) int {
	for buf[i] == ' ' || buf[i] == '\t' || buf[i] == '\r' {
		i++
	}
	return i
}

// expected returns the fault of a byte at i at which what is expected.
func expected(buf []byte, i int, what string) *fault {
	if buf[i] == '\n' {
		return &fault{reason: "ends where " + what + " is expected", hint: hintLine, atEnd: true}
	}
	return quoted(buf, i, tokenEnd(buf, i), "stands where "+what+" is expected", hintLine)
}

// tokenEnd returns the end of what a message quotes: a word, or one character.
func tokenEnd(buf []byte, i int) int {
	end := i
	for c := buf[end]; c|0x20-'a' <= 'z'-'a' || c-'0' <= 9 || c == '.' || c == '-' || c == '+' ||
		c == '_'; c = buf[end] {
		end++
	}
	if end == i {
		_, n := utf8.DecodeRune(buf[i:])
		end += n
	}
	return end
}

// keyAt scans what is between two values: an opening brace before the first value of a row, or a
// comma, then a key and a colon. at is the offset of the value. If the row ends instead, done is
// true and at is the offset after the closing brace.
func keyAt(buf []byte, i int, first bool) (key value, at int, done bool, bad *fault) {
	i = skipSpace(buf, i)
	switch {
	case first && buf[i] != '{':
		bad = expected(buf, i, "an object")
	case !first && buf[i] == '}':
		return key, i + 1, true, nil
	case !first && buf[i] != ',':
		bad = expected(buf, i, "a comma or a closing brace")
	}
	if bad != nil {
		return key, i, false, bad
	}
	i = skipSpace(buf, i+1)
	if first && buf[i] == '}' {
		return key, i + 1, true, nil
	}
	key, at, bad = keyColon(buf, i)
	return key, at, false, bad
}

// keyColon scans a key and its colon. at is the offset of the value.
func keyColon(buf []byte, i int) (key value, at int, bad *fault) {
	if buf[i] != '"' {
		return key, i, expected(buf, i, "a key in quotes")
	}
	end, escaped, bad := scanString(buf, i+1)
	if bad != nil {
		return key, i, bad
	}
	key = value{kind: text, escaped: escaped, raw: buf[i+1 : end]}
	if i = skipSpace(buf, end+1); buf[i] != ':' {
		return key, i, expected(buf, i, "a colon")
	}
	return key, skipSpace(buf, i+1), nil
}

// rowEnd returns the offset of the next line, given the offset after a row.
func rowEnd(buf []byte, i int) (next int, bad *fault) {
	if i = skipSpace(buf, i); buf[i] != '\n' {
		bad = quoted(buf, i, tokenEnd(buf, i), "stands after the object of the row", hintLine)
		bad.atEnd = false
		return i, bad
	}
	return i + 1, nil
}

// scanValue scans the value at i. end is the offset after it.
func scanValue(buf []byte, i int) (v value, end int, bad *fault) {
	switch c := buf[i]; {
	case c == '"':
		end, escaped, bad := scanString(buf, i+1)
		if bad != nil {
			return v, i, bad
		}
		return value{kind: text, escaped: escaped, raw: buf[i+1 : end]}, end + 1, nil
	case c == '-' || c-'0' <= 9:
		v.kind, end = scanNumber(buf, i)
		if end < 0 {
			return v, i, quoted(buf, i, tokenEnd(buf, i), "is not a number of JSON", hintNumber)
		}
	case c == '{' || c == '[':
		v.kind = array
		if c == '{' {
			v.kind = object
		}
		if end, bad = skipNested(buf, i); bad != nil {
			return v, i, bad
		}
	default:
		end = tokenEnd(buf, i)
		switch string(buf[i:end]) {
		case "true", "false":
			v.kind = boolean
		case "null":
			v.kind = null
		default:
			if strings.IndexByte(",:]}\n", c) >= 0 { // there is no value
				return v, i, expected(buf, i, "a value")
			}
			return v, i, quoted(buf, i, end, "is not a value of JSON", hintValue)
		}
	}
	v.raw = buf[i:end]
	return v, end, nil
}

// scanNumber returns the offset after the number at i, -1 if there is no number of JSON.
func scanNumber(buf []byte, i int) (k kind, end int) {
	if buf[i] == '-' {
		i++
	}
	begin := i
	if i = skipDigits(buf, i); i == begin || buf[begin] == '0' && i > begin+1 {
		return decimal, -1
	}
	k = integer
	if buf[i] == '.' {
		k, begin = decimal, i+1
		if i = skipDigits(buf, begin); i == begin {
			return k, -1
		}
	}
	if buf[i]|0x20 == 'e' {
		k, i = decimal, i+1
		if buf[i] == '+' || buf[i] == '-' {
			i++
		}
		begin = i
		if i = skipDigits(buf, i); i == begin {
			return k, -1
		}
	}
	return k, i
}

// skipDigits returns the offset of the first byte from i on that is not a digit.
func skipDigits(buf []byte, i int) int {
	for buf[i]-'0' <= 9 {
		i++
	}
	return i
}

// Constants with one value in each of eight bytes.
const (
	each    = 0x0101010101010101
	highest = 0x80 * each
)

// scanString returns the offset of the quote that ends a string. i is the offset after its first
// quote.
func scanString(buf []byte, i int) (end int, escaped bool, bad *fault) {
	begin := i - 1
	for {
		// Skip ASCII that stands for itself, eight bytes at a time. In mask, the lowest bit that is
		// set marks the first other byte; bits above it may be wrong.
		x := binary.LittleEndian.Uint64(buf[i:])
		quote, backslash := x^'"'*each, x^'\\'*each
		mask := ((quote-each)&^quote | (backslash-each)&^backslash | (x-' '*each)&^x | x) & highest
		if mask == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(mask) / 8
		switch c := buf[i]; {
		case c == '"':
			return i, escaped, nil
		case c == '\\':
			n := escapeLength(buf[i:])
			if n == 0 {
				return i, false, faultEscape(restOfLine(buf, i))
			}
			escaped, i = true, i+n
		case c == '\n':
			return i, false, quoted(buf, begin, i, "is a string that is not closed", hintLine)
		case c < ' ':
			return i, false, quoted(buf, i, i+1, "is a control character, which JSON escapes",
				`write it as an escape, such as \t, \n or \u0001`)
		default:
			_, n := utf8.DecodeRune(buf[i:])
			if n == 1 {
				bad := quoted(buf, i, i+1, source.ReasonUTF8, hintUTF8)
				bad.atEnd = !utf8.FullRune(restOfLine(buf, i))
				return i, false, bad
			}
			i += n
		}
	}
}

// escapeLength returns the number of bytes of the escape at the start of b, 0 if it is invalid.
func escapeLength(b []byte) int {
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// faultEscape returns the fault of an escape at the start of b, which is the rest of the line.
func faultEscape(b []byte) *fault {
	const longest = len(`\u0000`)
	return &fault{
		text: string(b[:min(2, len(b))]), reason: "is not an escape of JSON",
		hint: `write a backslash as \\`, atEnd: len(b) == 1 || len(b) < longest && b[1] == 'u',
	}
}

// restOfLine returns the bytes from i to the end of the line.
func restOfLine(buf []byte, i int) []byte { return buf[i : i+bytes.IndexByte(buf[i:], '\n')] }

// hex4 returns the number of four hexadecimal digits. They may be followed by any bytes.
func hex4(b []byte) (v rune, ok bool) {
	for _, c := range b[:min(4, len(b))] {
		switch {
		case c-'0' <= 9:
			v = v<<4 | rune(c-'0')
		case c|0x20-'a' <= 'f'-'a':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, len(b) >= 4
}

// skipNested returns the offset after the array or object at i, which must be well-formed.
func skipNested(buf []byte, i int) (end int, bad *fault) {
	var isObject [maxDepth / 64]uint64 // one bit for each depth
	depth := 0
	for {
		// A value begins at i, or a closing bracket follows an opening one.
		switch c := buf[i]; {
		case c == '{' || c == '[':
			if depth == maxDepth {
				return i, &fault{reason: "has a value that is nested too deeply",
					hint: "leave the value out of the file"}
			}
			bit := uint64(1) << (depth % 64)
			isObject[depth/64] &^= bit
			if c == '{' {
				isObject[depth/64] |= bit
			}
			depth++
			i = skipSpace(buf, i+1)
			if empty := buf[i] == c+2; !empty && c == '[' { // c+2 is the closing bracket
				continue
			} else if !empty {
				if _, i, bad = keyColon(buf, i); bad != nil {
					return i, bad
				}
				continue
			}
		default:
			if _, i, bad = scanValue(buf, i); bad != nil {
				return i, bad
			}
			i = skipSpace(buf, i)
		}
		// What follows a value, or an opening bracket of an empty one, is at i.
		for isOpen := true; isOpen; {
			inObject := isObject[(depth-1)/64]>>((depth-1)%64)&1 == 1
			switch {
			case inObject && buf[i] == '}' || !inObject && buf[i] == ']':
				if depth--; depth == 0 {
					return i + 1, nil
				}
				i = skipSpace(buf, i+1)
				continue
			case buf[i] != ',':
				return i, expected(buf, i, "a comma or a closing bracket")
			}
			i, isOpen = skipSpace(buf, i+1), false
			if inObject {
				if _, i, bad = keyColon(buf, i); bad != nil {
					return i, bad
				}
			}
		}
	}
}
