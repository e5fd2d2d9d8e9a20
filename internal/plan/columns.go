package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// Names of the parts of a window.
const (
	Context = "context"
	Target  = "target"
	Known   = "known"
	Static  = "static"
)

// newParts resolves the column names of a spec against a generation.
func newParts(h *store.Handle, spec window.Spec) ([]Part, error) {
	columns, err := selectColumns(h, spec)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, p := range []Part{
		{Name: Context, Length: spec.ContextLength},
		{Name: Target, First: spec.ContextLength + spec.Gap - spec.Overlap,
			Length: spec.Overlap + spec.PredictionLength},
		{Name: Known, Length: spec.ContextLength + spec.Gap + spec.PredictionLength},
		{Name: Static, Length: 1},
	} {
		if p.Columns = columns[p.Name]; len(p.Columns) == 0 {
			continue
		}
		p.Of = p.Name
		if p.DType, err = oneDType(p.Columns, spec.DType); err != nil {
			return nil, err
		}
		if err := checkReplacements(p, spec); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// checkReplacements refuses values for missing and padded samples that the dtype of a part cannot
// represent.
func checkReplacements(p Part, spec window.Spec) error {
	if v := spec.MissingValue; v != nil && overflows(p.DType, *v) {
		return notHeld("missing_value", *v, p)
	}
	if v := spec.PadValue; p.Of != Static && !holds(p.DType, v) {
		return notHeld("pad_value", v, p)
	}
	return nil
}

// selectColumns returns the columns of each part.
func selectColumns(h *store.Handle, spec window.Spec) (map[string][]*layout.ManifestColumn, error) {
	m := h.Data.Manifest
	by := make(map[string]*layout.ManifestColumn, len(m.Columns))
	for i := range m.Columns {
		by[m.Columns[i].Name] = &m.Columns[i]
	}
	var err error
	lookup := func(field string, names []string) (out []*layout.ManifestColumn) {
		for _, name := range names {
			c, e := valueColumn(h, by[name], field, name)
			if e != nil && err == nil {
				err = e
			}
			out = append(out, c)
		}
		return out
	}
	if spec, err = withCalendar(h, spec); err != nil {
		return nil, err
	}
	known, static := lookup("known_columns", spec.KnownColumns),
		lookup("static_columns", spec.StaticColumns)
	both := lookup("columns", spec.Columns)
	context, target := lookup("context_columns", spec.ContextColumns),
		lookup("target_columns", spec.TargetColumns)
	if err != nil {
		return nil, err
	}
	if spec.Columns == nil {
		for i := range m.Columns {
			if c := &m.Columns[i]; c.InDefaultWindows() {
				both = append(both, c)
			}
		}
		both = without(both, static)
	}
	if spec.ContextColumns == nil {
		context = both
	}
	if spec.TargetColumns == nil {
		target = both
		if spec.Columns == nil {
			target = without(both, known)
		}
	}
	if spec.PredictionLength == 0 {
		target = nil
	}
	if len(context) == 0 {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"context_columns: no column is left for the context").WithField("context_columns").
			WithHint("name some, in `context_columns` or `columns`")
	}
	if len(target) == 0 && spec.PredictionLength > 0 {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"target_columns: no column is left for the target").WithField("target_columns").
			WithHint("name some, in `target_columns` or `columns`; or set `prediction_length=0`")
	}
	return map[string][]*layout.ManifestColumn{Context: context, Target: target, Known: known,
		Static: static}, nil
}

// notHeld is the error for a value of a spec that the dtype of a part cannot represent.
func notHeld(field string, v float64, p Part) error {
	return &window.SpecError{Field: field, Value: fmt.Sprint(v), Allowed: fmt.Sprintf(
		"a number that %s, the dtype of the %s, can represent", p.DType, p.Of)}
}

// overflows reports whether a finite number is infinite in a dtype of floats.
func overflows(d layout.DType, v float64) bool {
	switch d {
	case layout.Float16:
		v = float64(layout.HalfOf(v).Float32())
	case layout.Float32:
		v = float64(float32(v))
	}
	return math.IsInf(v, 0)
}

// holds reports whether a dtype can represent v: floats after rounding, other dtypes exactly. Floats
// represent NaN. No dtype represents infinity.
func holds(d layout.DType, v float64) bool {
	switch {
	case d.IsFloat():
		return !overflows(d, v)
	case d == layout.Bool:
		return v == 0 || v == 1
	}
	low, end := 0.0, math.Ldexp(1, int(8*d.Size()))
	if d.Plain().Holds(layout.Int8) { // it is signed
		low, end = -end/2, end/2
	}
	return v == math.Trunc(v) && v >= low && v < end
}

// without returns the elements of all that are not in leave.
func without[T comparable](all, leave []T) []T {
	leaves := setOf(leave)
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return leaves[one] })
}

// setOf returns a set of the elements.
func setOf[T comparable](elements []T) map[T]bool {
	set := make(map[T]bool, len(elements))
	for _, one := range elements {
		set[one] = true
	}
	return set
}

// valueColumn returns the column c of that name, if it can be part of a window. c is nil if there is
// none.
func valueColumn(h *store.Handle, c *layout.ManifestColumn, field, name string) (
	*layout.ManifestColumn, error) {
	if c == nil {
		return nil, UnknownColumn(h, field, name)
	}
	if c.Role != layout.RoleValue || c.DType == layout.Timestamp {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"%s: column %q is %s of dtype %s, want a value column of numbers, durations or text",
			field, name, c.Role, c.DType).WithField(field)
	}
	return c, nil
}

// UnknownColumn returns the error for a column that does not exist. It names similar columns.
func UnknownColumn(h *store.Handle, field, name string) error {
	m := h.Data.Manifest
	names := make([]string, len(m.Columns))
	for i, c := range m.Columns {
		names[i] = c.Name
	}
	p := wire.NewProblem(wire.ColumnNotFound, "%s: no column is named %q; there are: %s", field,
		name, near.List(names[:min(len(names), 20)]))
	if like := near.Names(name, names); len(like) > 0 {
		p = wire.NewProblem(wire.ColumnNotFound, "%s: no column is named %q; near: %s", field, name,
			near.List(like))
	}
	return p.WithField(field).WithHint("tensorcache show %s lists them", h.Dataset)
}

// oneDType returns the dtype in which all columns of a part are delivered.
func oneDType(columns []*layout.ManifestColumn, want window.DType) (layout.DType, error) {
	stored := columns[0].DType.Plain()
	other := slices.IndexFunc(columns,
		func(c *layout.ManifestColumn) bool { return c.DType.Plain() != stored })
	if name := want.Name(); name != "" {
		switch d := layout.DType(name); d {
		case layout.Float32, layout.Float64, layout.Int32, layout.Int64:
			return d, checkLossless(columns, d)
		default:
			if d.IsNumeric() && other < 0 && stored == d {
				return d, nil
			}
			return "", wire.NewProblem(wire.InvalidSpec,
				"dtype: got %q, want float32, float64, int32, int64 or null (as stored)",
				name).WithField("dtype")
		}
	}
	if other >= 0 {
		c := columns[other]
		return "", wire.NewProblem(wire.InvalidSpec,
			"dtype: null means as stored, but column %q is %s and column %q is %s", columns[0].Name,
			columns[0].DType, c.Name, c.DType).
			WithField("dtype").WithHint("name one dtype, or choose columns of one")
	}
	return stored, nil
}

// checkLossless refuses to deliver fractions as integers, and integers that the dtype does not hold.
func checkLossless(columns []*layout.ManifestColumn, d layout.DType) error {
	if d.IsFloat() {
		return nil
	}
	for _, c := range columns {
		if !d.Holds(c.DType.Plain()) && !fits(c, d) {
			hint := "leave the column out, or ask for float32 or float64"
			values := ""
			if s := c.Statistics; c.DType.IsInteger() && s != nil && s.Min != nil && s.Max != nil {
				values = fmt.Sprintf(" with values from %.0f to %.0f", *s.Min, *s.Max)
				hint = "leave the column out, or ask for its own dtype or float64"
			}
			return wire.NewProblem(wire.InvalidSpec, "dtype: column %q is %s%s, which does not fit %s", c.Name,
				c.DType, values, d).WithField("dtype").WithHint("%s", hint)
		}
	}
	return nil
}

// fits reports whether all values of a column of integers are among those of another dtype of
// integers.
func fits(c *layout.ManifestColumn, d layout.DType) bool {
	if !c.DType.Plain().IsInteger() || c.Statistics == nil || c.Statistics.Min == nil ||
		c.Statistics.Max == nil {
		return false
	}
	return holds(d, *c.Statistics.Min) && holds(d, *c.Statistics.Max)
}

// features returns the names along a part's last axis. A column of shape [rows, n] has n of them.
func (p Part) features() []string {
	var out []string
	for _, c := range p.Columns {
		if c.Width() == 0 {
			out = append(out, c.Name)
			continue
		}
		for i := range c.Width() {
			out = append(out, fmt.Sprintf("%s[%d]", c.Name, i))
		}
	}
	return out
}

// Width returns the number of features.
func (p Part) Width() (n int64) {
	for _, c := range p.Columns {
		n += max(c.Width(), 1)
	}
	return n
}
