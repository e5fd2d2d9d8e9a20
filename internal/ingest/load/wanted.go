package load

import (
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// wanted are the columns of a load in the order in which they are stored: item, time and value
// columns.
type wanted struct {
	names    []string
	roles    []layout.Role
	dtype    option.DTypes
	nullable []bool // see column.Want
	texts    []bool // it is text in the generation that rows are appended to, or in the first source
}

// resolve returns the columns that the options select of a source with these column names. The
// error is a [loaderr.OptionError].
func resolve(o option.Options, names []string) (wanted, error) {
	w := wanted{dtype: o.DType}
	have, added := column.Counts(names), map[string]bool{}
	add := func(field, name string, role layout.Role) error {
		if have[name] == 0 {
			e := &loaderr.OptionError{
				Field: field, Value: name, Column: true,
				Allowed: near.List(near.Names(name, names)),
				Hint:    loaderr.HintColumns(names),
			}
			if len(names) == 1 && strings.ContainsAny(names[0], ",;|\t") {
				e.Hint = fmt.Sprintf(
					"there is one column, %s: say with `delimiter` what separates cells",
					loaderr.Quote(names[0]))
			}
			return e
		}
		if !added[name] {
			added[name] = true
			w.names, w.roles = append(w.names, name), append(w.roles, role)
			w.nullable = append(w.nullable, o.NullableBools(name, role))
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
	values := o.Columns
	if len(values) == 0 {
		values = names
	}
	for _, name := range values {
		if err := add("columns", name, layout.RoleValue); err != nil {
			return w, err
		}
	}
	return w, o.DType.Known(w.names)
}

// in returns the wanted columns of a source. firstPath is that of the first source, for messages.
func (w wanted) in(path, firstPath string, names []string) ([]column.Want, error) {
	out := make([]column.Want, len(w.names))
	places := column.Places(names)
	for i, name := range w.names {
		at, found := places[name]
		if !found {
			return nil, &loaderr.SourceError{
				Path: path, Column: name, Reason: "is not in this file but in " + firstPath,
				Hint: "leave the column out with `columns`, or load the files one by one",
			}
		}
		out[i] = column.Want{
			Index: at, Role: w.roles[i], Text: w.dtype.By[name] == string(layout.Text),
			FollowsText: w.texts != nil && w.texts[i], Nullable: w.nullable[i],
		}
	}
	return out, nil
}
