package numpy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tuple is a Python tuple. A list is []any.
type tuple []any

// literalParser parses the Python literals that NumPy writes as headers: dicts, lists, tuples,
// strings, integers, True, False, None.
type literalParser struct {
	text  string
	at    int // offset of the next byte
	depth int // number of nested literals
}

// maxDepth is the largest number of nested literals.
const maxDepth = 16

// parseLiteral parses text as one literal. It returns an error if anything but blanks follows.
func parseLiteral(text string) (any, error) {
	l := &literalParser{text: text}
	v, err := l.value()
	if err != nil {
		return nil, err
	}
	if l.skipBlanks(); l.at < len(text) {
		return nil, fmt.Errorf("%q follows it", text[l.at:min(len(text), l.at+20)])
	}
	return v, nil
}

// errLiteral is returned for a literal that ends early or is malformed.
var errLiteral = errors.New("it does not end")

func (l *literalParser) skipBlanks() {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
}

// accept skips blanks and then c. It reports whether c was there.
func (l *literalParser) accept(c byte) bool {
	if l.skipBlanks(); l.at < len(l.text) && l.text[l.at] == c {
		l.at++
		return true
	}
	return false
}

func (l *literalParser) value() (any, error) {
	if l.depth++; l.depth > maxDepth {
		return nil, fmt.Errorf("more than %d levels", maxDepth)
	}
	defer func() { l.depth-- }()
	l.skipBlanks()
	if l.at == len(l.text) {
		return nil, errLiteral
	}
	switch c := l.text[l.at]; {
	case c == '{':
		return l.dict()
	case c == '[':
		v, _, err := l.sequence(']')
		return v, err
	case c == '(':
		v, comma, err := l.sequence(')')
		if err == nil && len(v) == 1 && !comma {
			return v[0], nil
		}
		return tuple(v), err
	case c == '\'' || c == '"':
		return l.quoted(c)
	case c == '-' || c >= '0' && c <= '9':
		return l.integer()
	}
	for word, v := range map[string]any{"True": true, "False": false, "None": nil} {
		if strings.HasPrefix(l.text[l.at:], word) {
			l.at += len(word)
			return v, nil
		}
	}
	return nil, fmt.Errorf("%q is not a literal", l.text[l.at:min(len(l.text), l.at+20)])
}

// sequence parses values up to the closing bracket end. comma reports whether a comma follows the
// last value.
func (l *literalParser) sequence(end byte) (out []any, comma bool, err error) {
	l.at++
	out = []any{}
	for !l.accept(end) {
		if len(out) > 0 && !comma {
			return nil, false, errLiteral
		}
		v, err := l.value()
		if err != nil {
			return nil, false, err
		}
		out, comma = append(out, v), l.accept(',')
	}
	return out, comma, nil
}

func (l *literalParser) dict() (map[string]any, error) {
	l.at++
	out, comma := map[string]any{}, true
	for !l.accept('}') {
		if !comma {
			return nil, errLiteral
		}
		key, err := l.value()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if _, duplicate := out[name]; !ok || duplicate || !l.accept(':') {
			return nil, fmt.Errorf("%v is not a key of it", key)
		}
		if out[name], err = l.value(); err != nil {
			return nil, err
		}
		comma = l.accept(',')
	}
	return out, nil
}

func (l *literalParser) integer() (int64, error) {
	begin := l.at
	for l.at++; l.at < len(l.text) && l.text[l.at] >= '0' && l.text[l.at] <= '9'; l.at++ {
	}
	v, err := strconv.ParseInt(l.text[begin:l.at], 10, 64)
	if digits := strings.TrimLeft(l.text[begin:l.at], "+-"); err == nil && v != 0 &&
		digits[0] == '0' {
		err = errLiteral // Python does not allow leading zeros
	}
	if l.at < len(l.text) && l.text[l.at] == 'L' { // as Python 2 wrote it
		l.at++
	}
	return v, err
}

func (l *literalParser) quoted(quote byte) (string, error) {
	var out []byte
	rest := l.text[l.at+1:]
	for rest != "" && rest[0] != quote {
		if strings.HasPrefix(rest, `\x`) { // a code point in Python, but a byte in Go
			if len(rest) < 4 {
				return "", errLiteral
			}
			v, err := strconv.ParseUint(rest[2:4], 16, 8)
			if err != nil {
				return "", err
			}
			out, rest = utf8.AppendRune(out, rune(v)), rest[4:]
			continue
		}
		r, _, tail, err := strconv.UnquoteChar(rest, quote)
		if strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`) {
			r, tail, err = rune(rest[1]), rest[2:], nil
		}
		if err != nil {
			return "", fmt.Errorf("a text in it: %w", err)
		}
		out, rest = utf8.AppendRune(out, r), tail
	}
	if rest == "" {
		return "", errLiteral
	}
	l.at = len(l.text) - len(rest) + 1
	return string(out), nil
}
