package wire

import (
	"reflect"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/near"
)

// suggestFields returns the end of a message about an unknown field: the similar field names of the
// type and of the types of its fields, or else all fields of the type.
func suggestFields(name string, t reflect.Type) string {
	fields := map[string]bool{}
	collectFields(t, fields, map[reflect.Type]bool{})
	var all []string
	for f := range fields {
		all = append(all, f)
	}
	slices.Sort(all)
	meant := near.Names(name, all)
	if len(meant) > 0 {
		return "; near: " + strings.Join(meant, ", ")
	}
	if own := fieldNames(t); len(own) > 0 {
		return "; there are: " + strings.Join(own, ", ")
	}
	return ""
}

// fieldNames returns the names of the fields of a struct in JSON, in their order.
func fieldNames(t reflect.Type) (names []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// collectFields adds the field names of a type and of the types of its fields.
func collectFields(t reflect.Type, fields map[string]bool, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collectFields(t.Elem(), fields, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				fields[name] = true
			}
			if name != "-" {
				collectFields(f.Type, fields, seen)
			}
		}
	}
}

// fieldOf returns the field of a struct that has exactly this name in JSON.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name || tag == "" && !f.Anonymous && f.Name == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
