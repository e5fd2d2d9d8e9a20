package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// objectField reads one field of a JSON object from its raw value.
type objectField struct {
	name string
	read func(raw json.RawMessage) error
}

// readObject reads one JSON object. It refuses names that are not in fields, names that occur
// twice, and data after the object. field names the object in errors.
func readObject(data []byte, field string, fields []objectField) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if len(bytes.TrimSpace(data)) == 0 || isNull(data) {
		return &SpecError{field, Missing, "one JSON object"}
	}
	bad := func() error { return &SpecError{field, shorten(data), "one JSON object"} }
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return bad()
	}
	seen := make(map[string]bool, len(fields))
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return bad()
		}
		name, ok := t.(string)
		if !ok {
			return bad()
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return bad()
		}
		if seen[name] {
			return &SpecError{field, name, "each field once"}
		}
		seen[name] = true
		k := findField(fields, name)
		if k == nil {
			return &SpecError{field, name, "one of the fields " + fieldNames(fields)}
		}
		if err := k.read(raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return bad()
	}
	if _, err := dec.Token(); err != io.EOF {
		return bad()
	}
	return nil
}

func findField(fields []objectField, name string) *objectField {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func fieldNames(fields []objectField) string {
	names := make([]string, len(fields))
	for i, k := range fields {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

// shorten returns a value as an error shows it.
func shorten(raw []byte) string {
	const most = 60
	s := string(bytes.TrimSpace(raw))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// readInt reads a whole number that is written as one: 336, not 336.0, "336" or 1e3.
func readInt(field string, raw []byte) (int64, error) {
	v, err := strconv.ParseInt(string(bytes.TrimSpace(raw)), 10, 64)
	if err != nil {
		return 0, &SpecError{field, shorten(raw), "a whole number"}
	}
	return v, nil
}

func readFloat(field string, raw []byte) (float64, error) {
	var v *float64
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return 0, &SpecError{field, shorten(raw), "a number"}
	}
	return *v, nil
}

func readString(field string, raw []byte) (string, error) {
	var v *string
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return "", &SpecError{field, shorten(raw), "a string"}
	}
	return *v, nil
}

func readBool(field string, raw []byte) (bool, error) {
	var v *bool
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return false, &SpecError{field, shorten(raw), "true or false"}
	}
	return *v, nil
}

// readList reads a JSON list. It reads null as nil.
func readList[T any](field string, raw []byte,
	read func(field string, raw []byte) (T, error)) ([]T, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, &SpecError{field, shorten(raw), "a list"}
	}
	if parts == nil {
		return nil, nil
	}
	list := make([]T, len(parts))
	for i, p := range parts {
		v, err := read(fmt.Sprintf("%s[%d]", field, i), p)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// orNull returns a function that reads null as nil.
func orNull[T any](read func(field string, raw []byte) (T, error)) func(string, []byte) (*T,
	error) {
	return func(field string, raw []byte) (*T, error) {
		if isNull(raw) {
			return nil, nil
		}
		v, err := read(field, raw)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
}

// notNull returns a function that refuses null, which readList would read.
func notNull[T any](read func(field string, raw []byte) (T, error)) func(string, []byte) (T,
	error) {
	return func(field string, raw []byte) (v T, err error) {
		if isNull(raw) {
			return v, &SpecError{field, "null", "a list"}
		}
		return read(field, raw)
	}
}

// into returns the field with a name. Its value is read by read and stored in *dst.
func into[T any](dst *T, name string, read func(field string, raw []byte) (T, error)) objectField {
	return objectField{name, func(raw json.RawMessage) (err error) {
		*dst, err = read(name, raw)
		return err
	}}
}

// objectWriter writes one JSON object with fields in the order of its calls.
type objectWriter struct {
	buf bytes.Buffer
	err error
}

func (w *objectWriter) put(name, value string) {
	if w.buf.Len() > 0 {
		w.buf.WriteByte(',')
	}
	w.buf.WriteString(strconv.Quote(name) + ":" + value)
}

func (w *objectWriter) marshal(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.put(name, string(data))
}

func (w *objectWriter) bytes() ([]byte, error) {
	return []byte("{" + w.buf.String() + "}"), w.err
}

// mustJSON returns v as JSON. It panics if v has none.
func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("window: " + err.Error())
	}
	return string(data)
}
