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

// DTypes are the dtypes that columns are stored as. In JSON it is one dtype for all columns of
// floats, or an object with the dtypes of named columns of any kind, and with "*" that of the other
// columns of floats. The zero value stores the dtypes of the sources.
type DTypes struct {
	Floats string            // of columns of floats that By does not name
	By     map[string]string // of named columns
}

// Floats returns the option that stores all columns of floats as a dtype.
func Floats(dtype string) DTypes { return DTypes{Floats: dtype} }

// MarshalJSON writes equal settings as equal bytes.
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

// IsZero reports whether the option is not set.
func (d DTypes) IsZero() bool { return d.Floats == "" && len(d.By) == 0 }

// validate refuses dtypes that are not of numbers, except for text of a named column.
func (d DTypes) validate() error {
	floats := []string{string(layout.Float16), string(layout.Float32), string(layout.Float64)}
	if err := oneOf("dtype", d.Floats, floats...); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d.By)) {
		if v := layout.DType(d.By[name]); !v.IsFloat() && !v.IsInteger() && v != layout.Text {
			return &loaderr.OptionError{
				Field: "dtype", Value: name + "=" + string(v),
				Allowed: "a dtype of numbers, as " + strings.Join(floats, ", ") +
					" or int8 to uint64, or text",
			}
		}
	}
	return nil
}

// Known refuses a named column that is not one of names.
func (d DTypes) Known(names []string) error {
	have := column.Counts(names)
	for _, name := range slices.Sorted(maps.Keys(d.By)) {
		if have[name] == 0 {
			return &loaderr.OptionError{
				Field: "dtype", Value: name, Column: true,
				Allowed: near.List(near.Names(name, names)),
				Hint:    loaderr.HintColumns(names),
			}
		}
	}
	return nil
}

// Named returns the dtype of a column by its name, else that of all floats, whatever its kind.
func (d DTypes) Named(name string) layout.DType {
	if v, ok := d.By[name]; ok {
		return layout.DType(v)
	}
	return layout.DType(d.Floats)
}

// Of returns the dtype that a column is to be stored as, "" for its own.
func (d DTypes) Of(c column.Column) layout.DType {
	if v, ok := d.By[c.Name]; ok {
		return layout.DType(v)
	}
	if c.Calendar == "" && (c.Kind == column.KindUnknown || c.Kind.IsFloat()) {
		return layout.DType(d.Floats)
	}
	return ""
}

// Convertible refuses a dtype that a column cannot be converted to. path is the first source. The
// error is a [loaderr.SourceError].
func (d DTypes) Convertible(c column.Column, path string, role layout.Role) error {
	v, named := d.By[c.Name]
	refuse := func(reason string) error {
		return &loaderr.SourceError{Path: path, Column: c.Name, Reason: reason,
			Hint: "leave it out of `dtype`"}
	}
	switch {
	case !named || v == string(layout.Text) && c.Kind == column.KindText:
		return nil
	case v == string(layout.Text):
		return refuse(fmt.Sprintf("is %s; only columns of text files are taken as text",
			c.Describe()))
	case role != layout.RoleValue:
		return refuse("names items or times, which keep their own dtypes")
	case !c.IsNumber() && c.Kind != column.KindBool:
		return refuse(fmt.Sprintf("is %s, which is stored as nothing else", c.Describe()))
	}
	return nil
}
