package wire

import (
	"reflect"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/near"
)

// meantFields says which fields that a value is read from somebody who wrote another may have
// meant: those of like names, there or further within, or else all there are.
func meantFields(name string, t reflect.Type) string {
	fields := map[string]bool{}
	gather(t, fields, map[reflect.Type]bool{})
	var all []string
	for f := range fields {
		all = append(all, f)
	}
	slices.Sort(all)
	meant := near.Names(name, all)
	if len(meant) > 0 {
		return "; near: " + strings.Join(meant, ", ")
	}
	if own := ownFields(t); len(own) > 0 {
		return "; there are: " + strings.Join(own, ", ")
	}
	return ""
}

// ownFields are the names of the fields of a struct, as it has them.
func ownFields(t reflect.Type) (names []string) {
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

// gather finds the names of the fields of a type and of those within.
func gather(t reflect.Type, fields map[string]bool, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		gather(t.Elem(), fields, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				fields[name] = true
			}
			if name != "-" {
				gather(f.Type, fields, seen)
			}
		}
	}
}

// fieldOf finds the field of a struct that has this very name in JSON.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name || tag == "" && !f.Anonymous && f.Name == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
