package api

import (
	"encoding/json"
	"strconv"
	"strings"
)

func atoi(n json.Number) int {
	i, err := strconv.Atoi(n.String())
	if err != nil {
		panic(err)
	}
	return i
}

// integer returns a number, which is usually small.
func (m *requestMaker) integer(s spec, at string) string {
	least, limited := s["minimum"].(json.Number)
	most, bounded := s["maximum"].(json.Number)
	switch odd := m.choose(24); {
	case !m.invalid && odd < 3 || odd > 3:
	case odd == 0 && limited:
		return least.String()
	case odd == 1 && bounded:
		return most.String()
	case odd == 2:
		return []string{
			"-1", "-3", "-40", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
			"18446744073709551615", "18446744073709551616", "2305843009213693953",
			"4611686018427387904", "2147483648", "1e3", "1.0", "0.5", "100", "1000",
		}[m.choose(16)]
	case odd == 3 && !limited:
		return strconv.Itoa(-m.choose(12))
	}
	if list := m.words["#"+lastName(at)]; list != nil {
		return list[m.choose(len(list))]
	}
	n := m.choose(8)
	if limited {
		n += min(atoi(least), 8)
	}
	return strconv.Itoa(n)
}

// lastName returns the name of the field at a path.
func lastName(at string) string {
	at = strings.TrimSuffix(at, ".*") // a dictionary by column
	return strings.TrimRight(at[strings.LastIndexByte(at, '.')+1:], "[]")
}

// text returns a text, usually one that is valid at this path.
func (m *requestMaker) text(at string) string {
	if m.invalid && m.oneIn(12) {
		return []string{m.word, "", " ", "none", "..", "a/b", "é\u0000\uffff",
			strings.Repeat("long", 50), "%", "\"", "[\"x\"]", "null", "-x"}[m.choose(13)]
	}
	list := m.words[at[strings.LastIndexByte(at, '.')+1:]]
	if list == nil {
		list = m.words[lastName(at)]
	}
	if list == nil {
		list = m.words[strings.TrimPrefix(lastName(at), "?")]
	}
	if list == nil {
		list = m.words[""]
	}
	return list[m.choose(len(list))]
}

func (m *requestMaker) json(v any) { m.buf.Write(asJSON(v)) }
