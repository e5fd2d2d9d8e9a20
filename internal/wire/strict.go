package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Strict decodes JSON. It refuses unknown, repeated and misspelt fields. Its errors name fields and
// types of JSON, not of Go.
func Strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return jsonError(err, data, into)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return checkExact(data, reflect.TypeOf(into).Elem(), "")
}

// FieldError reports a JSON value of the wrong type.
type FieldError struct {
	Field     string // "" is the whole JSON
	Got, Want string
	Text      string // the error of the field's own type, in place of Got and Want; may be empty
}

func (e *FieldError) Error() string {
	text := cmp.Or(e.Text, fmt.Sprintf("got %s, want %s", e.Got, e.Want))
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	return text
}

// NameError reports an unknown or repeated field.
type NameError struct {
	Field string // path of the field
	Text  string
}

func (e *NameError) Error() string { return e.Text }

// FieldOf returns the path of the field that an error of Strict is about, "" if it is the whole
// JSON.
func FieldOf(err error) string {
	var value *FieldError
	var name *NameError
	switch {
	case errors.As(err, &value):
		return value.Field
	case errors.As(err, &name):
		return name.Field
	}
	return ""
}

// jsonError returns an error of encoding/json in terms of JSON, without names of Go.
func jsonError(err error, data []byte, into any) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		name, number, _ := strings.Cut(kind.Value, " ") // "number 0.5"
		field := jsonPath(kind.Field)
		return &FieldError{Field: field, Got: cmp.Or(number, kindNames[name], kind.Value),
			Want: wantedKind(kind.Type) + listExample(field, kind.Type, data, into)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, ok := strings.CutPrefix(text, "unknown field "); ok {
		var name *NameError
		// checkExact knows the path of the field.
		if json.Valid(data) && errors.As(checkExact(data, reflect.TypeOf(into).Elem(), ""), &name) {
			return name
		}
		field = strings.Trim(field, `"`)
		return &NameError{Field: field, Text: text +
			suggestFields(field, reflect.TypeOf(into).Elem())}
	}
	if field := refusedField(err, data, into); field != "" {
		return &FieldError{Field: field, Text: strings.TrimPrefix(text, field+": ")}
	}
	return errors.New(text)
}

// listExample returns ", as [...]" if the field is a text and must be a list of texts, else "".
func listExample(field string, t reflect.Type, data []byte, into any) (shown string) {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.String ||
		reflect.TypeOf(into).Elem().Kind() != reflect.Struct {
		return ""
	}
	_ = eachField(data, "", func(name string, value json.RawMessage) error {
		if name == field && len(value) < 60 && value[0] == '"' {
			shown = fmt.Sprintf(", as [%s]", value)
		}
		return nil
	})
	return shown
}

// refusedField returns the field whose own type returned err, "" if there is none.
func refusedField(err error, data []byte, into any) (found string) {
	if !json.Valid(data) || reflect.TypeOf(into).Elem().Kind() != reflect.Struct {
		return ""
	}
	_ = eachField(data, "", func(field string, value json.RawMessage) error {
		name, _ := json.Marshal(field)
		// The bytes are those of the client, because the error may quote them.
		alone := fmt.Appendf(nil, "{%s:%s}", name, value)
		if own := json.Unmarshal(alone,
			reflect.New(reflect.TypeOf(into).Elem()).Interface()); found == "" && own != nil &&
			own.Error() == err.Error() {
			found = field
		}
		return nil
	})
	return found
}

// jsonPath removes the names of embedded Go structs from the path of a field.
func jsonPath(field string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."),
		func(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }), ".")
}

// kindNames are the names of JSON types in messages, by their names in encoding/json.
var kindNames = map[string]string{"array": "a list", "object": "an object", "string": "text",
	"bool": "a boolean", "number": "a number"}

// wantedKind returns the name of the JSON type that a Go type is decoded from.
func wantedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
