package api

import (
	"slices"
	"strings"
)

// nonsense is any JSON, and what is none.
func (m *maker) nonsense() {
	m.out.WriteString([]string{
		"null", "true", "-1", "0", "1.5", "1e999", `""`, `"x"`, "[]", "{}", "[[]]", `[null]`,
		`{"a": 1}`, "9223372036854775808", "-0", `"\u0000"`, `"\ud800"`, "[1,2,3]", "nan",
		strings.Repeat("[", 40), `{"":{}}`,
	}[m.pick(21)])
}

// damaged is a body of which something is left out, put in or repeated.
func (m *maker) damaged(b []byte) []byte {
	from := m.pick(len(b))
	to := min(len(b), from+1+m.pick(12))
	switch m.pick(5) {
	case 0:
		return b[:from]
	case 1:
		return slices.Delete(b, from, to)
	case 2:
		return slices.Insert(b, from, slices.Clone(b[from:to])...)
	case 3:
		b[from] = byte(m.pick(256))
		return b
	}
	return slices.Insert(b, from,
		[]byte([]string{",", "}", "]", "{", "\"", ":", " ", "null", "\n", "-", "e9",
			m.word}[m.pick(12)])...)
}
