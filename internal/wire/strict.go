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

// Strict reads JSON whose fields must all be known, written as they are and each given once. Its
// errors speak of fields and JSON, not of Go.
func Strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return plain(err, data, into)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return exact(data, reflect.TypeOf(into).Elem(), "")
}

// FieldError is a value of JSON that is of another kind than its field takes.
type FieldError struct {
	Field     string // "" is the whole JSON
	Got, Want string
	Text      string // what the field's own type says instead of these, if it says anything
}

func (e *FieldError) Error() string {
	text := cmp.Or(e.Text, fmt.Sprintf("got %s, want %s", e.Got, e.Want))
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	return text
}

// NameError is a field of JSON that is unknown where it stands, or that stands there twice.
type NameError struct {
	Field string // its path
	Text  string
}

func (e *NameError) Error() string { return e.Text }

// FieldOf is the path of the field at fault in an error of Strict, "" where it is the whole JSON.
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

// plain is an error of encoding/json as somebody who wrote the JSON understands it.
func plain(err error, data []byte, into any) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		name, number, _ := strings.Cut(kind.Value, " ") // "number 0.5"
		field := jsonPath(kind.Field)
		return &FieldError{Field: field, Got: cmp.Or(number, jsonNames[name], kind.Value),
			Want: wanted(kind.Type) + listOf(field, kind.Type, data, into)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, ok := strings.CutPrefix(text, "unknown field "); ok {
		var name *NameError
		// it knows where that is
		if json.Valid(data) && errors.As(exact(data, reflect.TypeOf(into).Elem(), ""), &name) {
			return name
		}
		field = strings.Trim(field, `"`)
		return &NameError{Field: field, Text: text +
			meantFields(field, reflect.TypeOf(into).Elem())}
	}
	if field := refusing(err, data, into); field != "" {
		return &FieldError{Field: field, Text: strings.TrimPrefix(text, field+": ")}
	}
	return errors.New(text)
}

// listOf shows a text that stands where a list of texts is wanted as one, "" for all else.
func listOf(field string, t reflect.Type, data []byte, into any) (shown string) {
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

// refusing is the field of an object whose type gives an error of its own, "" where there is none.
func refusing(err error, data []byte, into any) (found string) {
	if !json.Valid(data) || reflect.TypeOf(into).Elem().Kind() != reflect.Struct {
		return ""
	}
	_ = eachField(data, "", func(field string, value json.RawMessage) error {
		name, _ := json.Marshal(field)
		// as it is written, which the error may quote
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

// jsonPath leaves the names of embedded Go structs out of the path of a field.
func jsonPath(field string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."),
		func(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }), ".")
}

// jsonNames say what encoding/json calls a value.
var jsonNames = map[string]string{"array": "a list", "object": "an object", "string": "text",
	"bool": "a boolean", "number": "a number"}

// wanted says what JSON a type is read from.
func wanted(t reflect.Type) string {
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
