package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// DTypes say what columns are stored as. In JSON it is a dtype for all floats, or an object with one for each named column, of
// whatever kind, and with "*" one for the other floats. The zero value keeps what the sources have.
type DTypes struct {
	Floats string            // of float columns that are not named
	By     map[string]string // of named columns
}

// Floats stores all float columns as a dtype.
func Floats(dtype string) DTypes { return DTypes{Floats: dtype} }

// MarshalJSON gives equal settings equal bytes.
func (d DTypes) MarshalJSON() ([]byte, error) {
	if len(d.By) == 0 {
		return json.Marshal(d.Floats)
	}
	by := maps.Clone(d.By)
	if d.Floats != "" {
		by[everyOther] = d.Floats
	}
	return json.Marshal(by)
}

// UnmarshalJSON reads a dtype, or an object of them.
func (d *DTypes) UnmarshalJSON(b []byte) error {
	*d = DTypes{}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, &d.Floats)
	}
	if err := json.Unmarshal(b, &d.By); err != nil {
		return err
	}
	if err := noNulls(b); err != nil {
		return err
	}
	d.Floats = d.By[everyOther]
	delete(d.By, everyOther)
	return nil
}

// IsZero reports whether nothing is asked for.
func (d DTypes) IsZero() bool { return d.Floats == "" && len(d.By) == 0 }

// validate refuses what is no dtype of numbers, and text for all.
func (d DTypes) validate() error {
	floats := []string{string(layout.Float16), string(layout.Float32), string(layout.Float64)}
	if err := oneOf("dtype", d.Floats, floats...); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d.By)) {
		if v := layout.DType(d.By[name]); !v.IsFloat() && !v.IsInteger() && v != layout.Text {
			return &loaderr.OptionError{Field: "dtype", Value: name + "=" + string(v), Allowed: "a dtype of numbers, as " + strings.Join(floats, ", ") + " or int8 to uint64, or text"}
		}
	}
	return nil
}

// Known refuses names that no wanted column has.
func (d DTypes) Known(names []string) error {
	for _, name := range slices.Sorted(maps.Keys(d.By)) {
		if !slices.Contains(names, name) {
			return &loaderr.OptionError{Field: "dtype", Value: name, Column: true, Allowed: strings.Join(near.Names(name, names), ", ")}
		}
	}
	return nil
}

// Named returns the dtype of a column by its name alone, else that of all floats.
func (d DTypes) Named(name string) layout.DType {
	if v, ok := d.By[name]; ok {
		return layout.DType(v)
	}
	return layout.DType(d.Floats)
}

// Of is what a column is to be stored as, "" for what it is.
func (d DTypes) Of(c column.Column) layout.DType {
	if v, ok := d.By[c.Name]; ok {
		return layout.DType(v)
	}
	if c.Kind == column.KindUnknown || c.Kind.IsFloat() {
		return layout.DType(d.Floats)
	}
	return ""
}

// Convertible refuses a dtype that a column cannot take.
func (d DTypes) Convertible(c column.Column, path string, role layout.Role) error {
	v, named := d.By[c.Name]
	numeric := c.Kind == column.KindUnknown || c.Kind == column.KindBool || c.Kind.IsInteger() || c.Kind.IsFloat()
	switch {
	case !named || v == string(layout.Text) && c.Kind == column.KindText:
		return nil
	case v == string(layout.Text):
		return &loaderr.SourceError{Path: path, Column: c.Name, Reason: fmt.Sprintf("is %s; only columns of text files are taken as text", c.Describe()), Hint: "leave it out of --dtype"}
	case role != layout.RoleValue:
		return &loaderr.SourceError{Path: path, Column: c.Name, Reason: "names items or times, which keep their own dtypes", Hint: "leave it out of --dtype"}
	case !numeric:
		return &loaderr.SourceError{Path: path, Column: c.Name, Reason: fmt.Sprintf("is %s, which is stored as nothing else", c.Describe()), Hint: "leave it out of --dtype"}
	}
	return nil
}
