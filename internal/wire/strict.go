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

// Strict reads JSON whose fields must all be known, written as they are and each given once. Its errors speak of fields and JSON, not
// of Go.
func Strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return plain(err, into)
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
}

func (e *FieldError) Error() string {
	text := fmt.Sprintf("got %s, want %s", e.Got, e.Want)
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	return text
}

// plain is an error of encoding/json as somebody who wrote the JSON understands it.
func plain(err error, into any) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		name, number, _ := strings.Cut(kind.Value, " ") // "number 0.5"
		return &FieldError{jsonPath(kind.Field), cmp.Or(number, jsonNames[name], kind.Value), wanted(kind.Type)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, ok := strings.CutPrefix(text, "unknown field "); ok {
		text += nearFields(strings.Trim(field, `"`), into)
	}
	return errors.New(text)
}

// jsonPath leaves the names of embedded Go structs out of the path of a field.
func jsonPath(field string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."), func(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }), ".")
}

// jsonNames say what encoding/json calls a value.
var jsonNames = map[string]string{"array": "a list", "object": "an object", "string": "text", "bool": "a truth value", "number": "a number"}

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
