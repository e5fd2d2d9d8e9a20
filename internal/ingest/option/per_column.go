package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// everyOther is the key of the setting of all columns that are not named.
const everyOther = "*"

// PerColumn is a setting of value columns: one for all, or one by name with "*" for the others. In
// JSON it is the one setting, or an object. If T is bool, it may also be a list of the columns that
// are true. The zero value sets nothing.
type PerColumn[T comparable] struct {
	rest T // of columns that are not named
	by   map[string]T
}

// All returns the same setting for every column.
func All[T comparable](v T) PerColumn[T] { return PerColumn[T]{rest: v} }

// ByColumn returns settings by column name, with "*" for the others.
func ByColumn[T comparable](by map[string]T) PerColumn[T] {
	p := PerColumn[T]{rest: by[everyOther], by: maps.Clone(by)}
	delete(p.by, everyOther)
	return p
}

// Of returns a column's setting.
func (p PerColumn[T]) Of(name string) T {
	if v, ok := p.by[name]; ok {
		return v
	}
	return p.rest
}

// IsZero reports whether no column has a setting.
func (p PerColumn[T]) IsZero() bool { return len(p.canonical().by) == 0 && p.rest == *new(T) }

// names returns the named columns, sorted.
func (p PerColumn[T]) names() []string { return slices.Sorted(maps.Keys(p.by)) }

// canonical leaves out the names whose setting is that of the others.
func (p PerColumn[T]) canonical() PerColumn[T] {
	by := maps.Clone(p.by)
	maps.DeleteFunc(by, func(_ string, v T) bool { return v == p.rest })
	return PerColumn[T]{rest: p.rest, by: by}
}

// MarshalJSON writes equal settings as equal bytes.
func (p PerColumn[T]) MarshalJSON() ([]byte, error) {
	p = p.canonical()
	if len(p.by) == 0 {
		return json.Marshal(p.rest)
	}
	by := maps.Clone(p.by)
	if p.rest != *new(T) {
		by[everyOther] = p.rest
	}
	return json.Marshal(by)
}

// UnmarshalJSON reads one setting, an object, or for bool a list of names.
func (p *PerColumn[T]) UnmarshalJSON(b []byte) error {
	switch b = bytes.TrimSpace(b); {
	case string(b) == "null":
		return nil
	case b[0] == '{':
		var by map[string]T
		if err := json.Unmarshal(b, &by); err != nil {
			return err
		}
		if err := noNulls(b); err != nil {
			return err
		}
		*p = ByColumn(by)
		return nil
	case b[0] == '[':
		yes, ok := any(true).(T)
		if !ok {
			break
		}
		var names []string
		if err := json.Unmarshal(b, &names); err != nil {
			return fmt.Errorf("want true, a list of columns or an object: %w", err)
		}
		if err := noNulls(b); err != nil {
			return err
		}
		by := map[string]T{}
		for _, name := range names {
			by[name] = yes
		}
		*p = ByColumn(by)
		return nil
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*p = All(v)
	return nil
}

// noNulls refuses null in a list or an object, which encoding/json reads as a zero value.
func noNulls(b []byte) error {
	var list []any
	var by map[string]any
	if json.Unmarshal(b, &list) != nil && json.Unmarshal(b, &by) != nil {
		return nil // the caller reads the values and refuses them
	}
	values := slices.AppendSeq(list, maps.Values(by))
	if slices.ContainsFunc(values, func(v any) bool { return v == nil }) {
		return errors.New("got null for a column, want a value or nothing")
	}
	return nil
}
