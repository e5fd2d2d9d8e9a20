package api

import (
	"slices"
	"strings"
)

// nonsense writes any JSON, or text that is not JSON.
func (m *requestMaker) nonsense() {
	m.buf.WriteString([]string{
		"null", "true", "-1", "0", "1.5", "1e999", `""`, `"x"`, "[]", "{}", "[[]]", `[null]`,
		`{"a": 1}`, "9223372036854775808", "-0", `"\u0000"`, `"\ud800"`, "[1,2,3]", "nan",
		strings.Repeat("[", 40), `{"":{}}`,
	}[m.choose(21)])
}

// damage returns a body of which a part is removed, added or repeated.
func (m *requestMaker) damage(b []byte) []byte {
	from := m.choose(len(b))
	to := min(len(b), from+1+m.choose(12))
	switch m.choose(5) {
	case 0:
		return b[:from]
	case 1:
		return slices.Delete(b, from, to)
	case 2:
		return slices.Insert(b, from, slices.Clone(b[from:to])...)
	case 3:
		b[from] = byte(m.choose(256))
		return b
	}
	return slices.Insert(b, from,
		[]byte([]string{",", "}", "]", "{", "\"", ":", " ", "null", "\n", "-", "e9",
			m.word}[m.choose(12)])...)
}
