package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// asks tells whether a column is stored as another dtype than it has because the load asks for it, and nothing is done to it before.
func (o Options) asks(c column.Column, role layout.Role) bool {
	return o.DType.of(c) != "" && role == layout.RoleValue && o.steps(c, role) == (steps{}) && o.stored(c, role).DType != c.Kind.DType()
}

// converts tells whether a column is filled as what it is and converted after: one of a text file, whose cells are read as few dtypes only,
// and floats of which a filter leaves rows out, so that what narrowing loses is told of those that are kept.
func (o Options) converts(c column.Column, role layout.Role) bool {
	if !o.asks(c, role) {
		return false
	}
	if c.Width == 0 && o.filters() && (c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) {
		return true
	}
	return c.Inferred && !(o.stored(c, role).DType == layout.Float32 && (c.Kind == column.KindFloat64 || c.Kind == column.KindUnknown))
}

// wanted are the columns of a load in the order in which they are stored: items, time, values.
type wanted struct {
	names []string
	roles []layout.Role
	dtype DTypes
}

// resolve finds out which columns are wanted of a source that has names.
func (o Options) resolve(names []string) (wanted, error) {
	w := wanted{dtype: o.DType}
	add := func(field, name string, role layout.Role) error {
		if !slices.Contains(names, name) {
			e := &loaderr.OptionError{Field: field, Value: name, Column: true, Allowed: strings.Join(near.Names(name, names), ", ")}
			if len(names) == 1 && strings.ContainsAny(names[0], ",;|\t") {
				e.Hint = fmt.Sprintf("there is one column, %s: say with --delimiter what separates cells", loaderr.Quote(names[0]))
			}
			return e
		}
		if !slices.Contains(w.names, name) {
			w.names, w.roles = append(w.names, name), append(w.roles, role)
		}
		return nil
	}
	for _, name := range o.ItemID {
		if err := add("item_id", name, layout.RoleItemID); err != nil {
			return w, err
		}
	}
	if o.Time != "" {
		if err := add("time", o.Time, layout.RoleTime); err != nil {
			return w, err
		}
	}
	chosen := o.Columns
	if len(chosen) == 0 {
		chosen = names
	}
	for _, name := range chosen {
		if err := add("columns", name, layout.RoleValue); err != nil {
			return w, err
		}
	}
	return w, o.DType.known(w)
}

// in finds the wanted columns in a source. firstPath names the source that the others must be like.
func (w wanted) in(path, firstPath string, names []string) ([]column.Want, error) {
	out := make([]column.Want, len(w.names))
	for i, name := range w.names {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, &loaderr.SourceError{Path: path, Column: name, Reason: "is not in this file but in " + firstPath, Hint: "leave the column out with --columns, or load the files one by one"}
		}
		out[i] = column.Want{Index: at, Role: w.roles[i], Text: w.dtype.By[name] == string(layout.Text)}
	}
	return out, nil
}

// stored is the layout of a column under the options.
func (o Options) stored(c column.Column, role layout.Role) layout.Column {
	out := layout.Column{Name: c.Name, Role: role, DType: c.Kind.DType(), Width: c.Width, Unit: c.Unit, Zone: c.Zone}
	if role == layout.RoleTime && c.Kind.IsInteger() || role == layout.RoleItemID && c.Kind == column.KindUint64 {
		out.DType = layout.Int64
	}
	if asked := o.DType.of(c); asked != "" && role == layout.RoleValue {
		out.DType = asked
	}
	asked := layout.DType(o.DType.Floats)
	if by, ok := o.DType.By[c.Name]; ok {
		asked = layout.DType(by)
	}
	out.DType = o.steps(c, role).stored(out.DType, asked)
	return out
}

// staged tells whether a column is filled as float64 beside the result first: its steps come before it is narrowed.
func (o Options) staged(c column.Column, role layout.Role) bool {
	if o.steps(c, role) == (steps{}) {
		return false
	}
	to := o.stored(c, role).DType
	if to == layout.Float32 {
		switch c.Kind {
		case column.KindFloat16, column.KindFloat32, column.KindInt8, column.KindInt16, column.KindUint8, column.KindUint16: // it holds them
			return false
		}
	}
	return to != layout.Float64
}

// beside returns the column of scratch that a column is filled in first. ok is false if it is filled in
// the result.
func (o Options) beside(c column.Column, role layout.Role) (as layout.Column, ok bool) {
	as = layout.Column{Name: c.Name, DType: c.Kind.DType(), Width: c.Width}
	if o.staged(c, role) {
		as.DType = layout.Float64
		return as, true
	}
	return as, o.converts(c, role)
}
