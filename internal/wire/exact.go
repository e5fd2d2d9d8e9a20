package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// checkExact refuses what encoding/json accepts although it is wrong: a repeated field, of which it
// uses the last value; a field name in another case; null for a number, text or boolean in a list,
// which becomes zero; and a list that is longer or shorter than the array that it is decoded into.
// encoding/json has decoded data into a value of the type t without an error. path is the field of
// data.
func checkExact(data []byte, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	data = bytes.TrimSpace(data)
	own := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '{' && (own || t.Kind() == reflect.Map):
		return eachField(data, path, func(string, json.RawMessage) error { return nil })
	case own:
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return checkFields(data, t, path)
	case reflect.Slice, reflect.Array:
		return checkList(data, t, path)
	}
	return nil
}

func checkFields(data []byte, t reflect.Type, path string) error {
	return eachField(data, path, func(field string, value json.RawMessage) error {
		is, ok := fieldOf(t, field)
		if !ok {
			return &NameError{Field: fieldPath(path, field),
				Text: fmt.Sprintf("unknown field %q%s", field, suggestFields(field, t))}
		}
		return checkExact(value, is.Type, fieldPath(path, field))
	})
}

// fieldPath returns the path of a field of the object at a path.
func fieldPath(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// eachField calls f with every field of the object at a path. It refuses a repeated field.
func eachField(data []byte, path string, f func(field string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	// The caller has refused everything that is not an object.
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		field := name.(string)
		if seen[field] {
			return &NameError{Field: fieldPath(path, field),
				Text: fmt.Sprintf("field %q is given more than once", field)}
		}
		seen[field] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := f(field, value); err != nil {
			return err
		}
	}
	return nil
}

func checkList(data []byte, t reflect.Type, path string) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if t.Kind() == reflect.Array && len(list) != t.Len() {
		return &FieldError{Field: path, Got: fmt.Sprintf("a list of %d", len(list)),
			Want: fmt.Sprintf("a list of %d", t.Len())}
	}
	for i, value := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch e := t.Elem(); e.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Struct,
			reflect.Array:
		default:
			if string(value) == "null" &&
				!reflect.PointerTo(e).Implements(reflect.TypeFor[json.Unmarshaler]()) {
				return &FieldError{Field: at, Got: "null", Want: wantedKind(e)}
			}
		}
		if err := checkExact(value, t.Elem(), at); err != nil {
			return err
		}
	}
	return nil
}
