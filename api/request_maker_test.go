package api

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// randomRequest is a generated request.
type randomRequest struct {
	route          *route
	method, target string
	tag            string // If-None-Match
	body           []byte
	tcp            bool
	fields         []string // paths of its parameters and of the fields of its body
}

// requestMaker generates requests from the OpenAPI document. Most are valid, with values that exist
// in the datasets; some are not. Each choice uses one byte of the fuzz input, so that a mutation
// changes one choice. When the input is used up, a generator that it seeds makes the choices.
type requestMaker struct {
	choices      []byte
	random       *rand.Rand
	word         string // from the fuzz input
	words        map[string][]string
	fields       []string
	buf          bytes.Buffer
	optionalRate int    // one in so many optional fields is set
	invalid      bool   // some values are of the wrong kind
	focus        string // path of a field that must be set
	notNull      string // path of a field that must not be null
}

func newRequestMaker(choices []byte, word string, words map[string][]string) *requestMaker {
	h := fnv.New64a()
	h.Write(choices)
	return &requestMaker{choices: choices, random: rand.New(rand.NewPCG(h.Sum64(), 1)), word: word,
		words: words}
}

// choose returns a number below n.
func (m *requestMaker) choose(n int) int {
	if n <= 1 {
		return 0
	}
	if len(m.choices) == 0 {
		return m.random.IntN(n)
	}
	b := int(m.choices[0])
	m.choices = m.choices[1:]
	if n > 256 && len(m.choices) > 0 {
		b = b<<8 | int(m.choices[0])
		m.choices = m.choices[1:]
	}
	return b % n
}

func (m *requestMaker) oneIn(n int) bool { return m.choose(n) == n-1 }

// changesDatasets reports whether the route makes or removes datasets; such requests get names of
// their own.
func (r *route) changesDatasets() bool {
	return r.path == "/v1/datasets/{name}/load" || r.path == "/v1/datasets/{name}/append" ||
		r.method == "DELETE" && r.path == "/v1/datasets/{name}"
}

// request generates a request.
func (m *requestMaker) request() randomRequest {
	r := weightedRoutes()[m.choose(len(weightedRoutes()))]
	q := randomRequest{route: r, method: r.method, tcp: m.oneIn(4)}
	if m.oneIn(24) && !r.changesDatasets() {
		q.method = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "DELETE", "get",
			"BREW"}[m.choose(9)]
		if q.method == "DELETE" && r.path == "/v1/datasets/{name}" {
			q.method = "GET"
		}
	}
	m.optionalRate, m.invalid = []int{2, 4, 8, 16, 32, 64}[m.choose(6)], m.oneIn(2)
	if all := fieldsOf(r); len(all) > 0 && !m.oneIn(4) {
		m.focus = all[m.choose(len(all))]
	}
	parameters, body := inputOf(r)
	path := r.path
	var query []string
	for _, p := range parameters {
		name, _ := p["name"].(string)
		switch p["in"] {
		case "path":
			kind := name
			if r.changesDatasets() {
				kind = "changed name"
			} else if name == "id" {
				kind = strings.Split(r.path, "/")[2]
			}
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(m.text(kind)))
		case "query":
			if required, _ := p["required"].(bool); required || m.focus == "?"+name ||
				m.oneIn(m.optionalRate) {
				m.fields = append(m.fields, "?"+name)
				query = append(query, name+"="+url.QueryEscape(m.scalar(p["schema"], "?"+name)))
			}
		case "header":
			if m.oneIn(2) {
				m.fields = append(m.fields, "If-None-Match")
				q.tag = m.text("tag")
			}
		}
	}
	if m.oneIn(48) {
		query = append(query, []string{"", "&", "verbose=1", "limit", "limit=1", "%zz",
			"generation=0", url.QueryEscape(m.word) + "=" + url.QueryEscape(m.word)}[m.choose(8)])
	}
	if m.oneIn(64) {
		path = []string{path + "/", path + "/more", "/v1/" + url.PathEscape(m.word), "/v1/%2e%2e",
			path + "/%2e%2e"}[m.choose(5)]
	}
	q.target = path
	if len(query) > 0 {
		q.target += "?" + strings.Join(query, "&")
	}
	switch {
	case body != nil && !m.oneIn(16):
		m.value(body, "")
	case m.oneIn(16):
		m.nonsense()
	}
	q.body, q.fields = bytes.Clone(m.buf.Bytes()), m.fields
	if m.invalid && m.oneIn(8) && len(q.body) > 0 {
		q.body = m.damage(q.body)
	}
	return q
}

// scalar returns a parameter's value as text.
func (m *requestMaker) scalar(schema any, name string) string {
	m.value(schema, name)
	text := m.buf.String()
	m.buf.Reset()
	var words string
	if json.Unmarshal([]byte(text), &words) == nil {
		return words
	}
	return text
}

// value writes a value of a schema; at is its path.
func (m *requestMaker) value(schema any, at string) {
	s := resolveRef(schema)
	if m.invalid && m.oneIn(24) {
		m.nonsense()
		return
	}
	for _, of := range []string{"enum", "anyOf", "oneOf"} {
		if list, ok := s[of].([]any); ok && s["properties"] == nil {
			if at == m.notNull {
				list = slices.DeleteFunc(slices.Clone(list),
					func(l any) bool { return l == nil || resolveRef(l)["type"] == "null" })
			}
			one := list[m.choose(len(list))]
			if m.onFocusPath(at) && at != m.focus {
				one = list[0] // the others are null, or one value for all
				for _, l := range list {
					if r := resolveRef(l); r["properties"] != nil ||
						r["additionalProperties"] != nil || r["items"] != nil {
						one = l
					}
				}
			}
			if of == "enum" {
				m.json(one)
			} else {
				m.value(one, at)
			}
			return
		}
	}
	if list, ok := s["allOf"].([]any); ok {
		m.value(list[0], at)
		return
	}
	switch kinds := s["type"].(type) {
	case string:
		m.valueOfType(kinds, s, at)
	case []any:
		if at == m.notNull {
			kinds = slices.DeleteFunc(slices.Clone(kinds), func(k any) bool { return k == "null" })
		}
		kind := kinds[m.choose(len(kinds))]
		for _, deep := range []any{"array", "object"} {
			if m.onFocusPath(at) && at != m.focus && slices.Contains(kinds, deep) &&
				strings.HasPrefix(m.focus, at+"[") == (deep == "array") {
				kind = deep
			}
		}
		m.valueOfType(kind.(string), s, at)
	default:
		m.nonsense()
	}
}

// onFocusPath reports whether the field that must be set is at a path or below it.
func (m *requestMaker) onFocusPath(at string) bool {
	rest, ok := strings.CutPrefix(m.focus, at)
	return ok && m.focus != "" && (at == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (m *requestMaker) valueOfType(kind string, s spec, at string) {
	switch kind {
	case "object":
		m.object(s, at)
	case "array":
		m.list(s, at)
	case "string":
		m.json(m.text(at))
	case "integer":
		m.buf.WriteString(m.integer(s, at))
	case "number":
		if m.oneIn(4) {
			m.buf.WriteString(m.integer(s, at))
		} else {
			some := 3
			if m.invalid {
				some = 10
			}
			m.buf.WriteString([]string{"0.5", "0.2", "0.25", "1.0", "-2.5", "1e3", "0.1", "1e308",
				"5e-324", "1e400"}[m.choose(some)])
		}
	case "boolean":
		m.json(m.oneIn(2))
	default:
		m.buf.WriteString("null")
	}
}

func (m *requestMaker) object(s spec, at string) {
	m.buf.WriteByte('{')
	first := true
	field := func(name, path string, schema any) {
		if !first {
			m.buf.WriteByte(',')
		}
		first = false
		m.json(name)
		m.buf.WriteByte(':')
		m.fields = append(m.fields, path)
		m.value(schema, path)
		m.notNull = ""
	}
	properties, _ := s["properties"].(spec)
	required, _ := s["required"].([]any)
	var not []any
	if n, ok := s["minProperties"].(json.Number); ok && n == "1" {
		names := slices.Sorted(maps.Keys(properties))
		required = []any{names[m.choose(len(names))]}
	}
	if branches, ok := s["oneOf"].([]any); ok && !(m.invalid && m.oneIn(8)) {
		one := m.choose(len(branches))
		for i, b := range branches {
			if m.onFocusPath(joinPath(at, b.(spec)["required"].([]any)[0].(string))) {
				one = i
			}
		}
		for i, b := range branches {
			names := b.(spec)["required"].([]any)
			if i == one {
				required = slices.Concat(required, names)
			} else {
				not = append(not, names...)
			}
		}
	}
	if !m.invalid && !m.oneIn(4) {
		// fields that the document does not require, without which others mean nothing
		for _, name := range m.words["!"+lastName(at)] {
			required = append(required, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		must := slices.Contains(required, any(name)) && !(m.invalid && m.oneIn(16))
		if must && !m.invalid {
			m.notNull = joinPath(at, name)
		}
		if must || m.onFocusPath(joinPath(at, name)) || m.oneIn(m.optionalRate) &&
			!slices.Contains(not, any(name)) {
			field(name, joinPath(at, name), properties[name])
		}
		if m.invalid && m.oneIn(100) { // a repeated field
			field(name, joinPath(at, name), properties[name])
		}
	}
	if more, ok := s["additionalProperties"].(spec); ok {
		n := m.choose(3)
		if m.onFocusPath(joinPath(at, "*")) {
			n = max(n, 1)
		}
		for range n {
			field(m.text("column"), joinPath(at, "*"), more)
		}
	}
	if m.invalid && m.oneIn(24) {
		field(m.word, joinPath(at, "unknown"), spec{"type": "integer"})
	}
	m.buf.WriteByte('}')
}

func joinPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func (m *requestMaker) list(s spec, at string) {
	n := []int{1, 1, 2, 3, 0}[m.choose(5)]
	if m.onFocusPath(at + "[]") {
		n = max(n, 1)
	}
	if least, ok := s["minItems"].(json.Number); ok && !(m.invalid && m.oneIn(16)) {
		n = max(n, atoi(least))
	}
	if most, ok := s["maxItems"].(json.Number); ok && !(m.invalid && m.oneIn(16)) {
		n = min(n, atoi(most))
	}
	if m.invalid && m.oneIn(100) {
		n = 70
	}
	m.buf.WriteByte('[')
	for i := range n {
		if i > 0 {
			m.buf.WriteByte(',')
		}
		m.value(s["items"], at+"[]")
	}
	m.buf.WriteByte(']')
}
