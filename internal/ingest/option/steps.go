package option

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// How missing cells are filled, and how values are scaled.
const (
	none           = "none"
	FillMean       = "mean"
	FillForward    = "forward"
	FillBackward   = "backward"
	FillLinear     = "linear"
	FillValue      = "value"
	ScaleStandard  = "standard"
	ScaleMinMax    = "minmax"
	ScaleRobust    = "robust"
	ScaleMaxAbs    = "maxabs"
	ScalePerColumn = "column"
	ScalePerItem   = "item"
)

// StepsOf are what is done to one column, in this order: fill, clip, log1p, diff, scale.
type Steps struct {
	Fill        Fill
	Clip        Clip
	Log1p, Diff bool
	Scale       string
}

// StepsOf are those of a column; none if it is no value column of numbers.
func (o Options) StepsOf(c column.Column, role layout.Role) Steps {
	switch {
	case role == layout.RoleValue && c.IsBool() && o.Fill.Of(c.Name).truths():
		return Steps{Fill: o.Fill.Of(c.Name)}
	case role != layout.RoleValue || !c.IsNumber():
		return Steps{}
	}
	s := Steps{o.Fill.Of(c.Name), o.Clip.Of(c.Name), o.Log1p.Of(c.Name), o.Diff.Of(c.Name), o.Scale.Of(c.Name)}
	if s.Scale == none {
		s.Scale = ""
	}
	return s
}

// KeepsIntegers reports whether whole numbers stay such.
func (s Steps) KeepsIntegers() bool {
	whole := func(v float64) bool { return v == math.Trunc(v) }
	switch s.Fill.How {
	case FillMean, FillLinear:
		return false
	}
	return !s.Log1p && !s.Diff && s.Scale == "" && whole(s.Fill.Value) && whole(s.Clip.Low) && whole(s.Clip.High)
}

// StoredAs is the dtype of a column after its steps: new quantities are float32 unless the load says otherwise, values that were filled or
// clipped what they were, and whole numbers that may get fractions float64.
func (s Steps) StoredAs(was layout.DType, asked layout.DType) layout.DType {
	switch {
	case s == Steps{}:
	case s.KeepsIntegers() && !was.IsFloat():
	case asked != "":
		return asked
	case s.Log1p || s.Diff || s.Scale != "":
		return layout.Float32
	case !was.IsFloat():
		return layout.Float64
	}
	return was
}

// HasSteps reports whether any column may have steps.
func (o Options) HasSteps() bool {
	return !o.Fill.IsZero() || !o.Clip.IsZero() || !o.Log1p.IsZero() || !o.Diff.IsZero() || !o.Scale.IsZero()
}

// IsFitted reports whether any column may be fitted.
func (o Options) IsFitted() bool {
	found := false
	_ = o.Scale.each(func(_, v string) error { found = found || v != "" && v != none; return nil })
	_ = o.Fill.each(func(_ string, f Fill) error { found = found || f.How == FillMean; return nil })
	return found
}

// validateRecipe checks the steps and what they are fitted on.
func (o Options) validateRecipe() error {
	if err := o.Fill.each(func(_ string, f Fill) error {
		if f.Value-f.Value != 0 {
			return &loaderr.OptionError{Field: "fill", Value: fmt.Sprint(f.Value), Allowed: "a finite number"}
		}
		return oneOf("fill", f.How, none, FillValue, FillMean, FillForward, FillBackward, FillLinear)
	}); err != nil {
		return wordsOf(err, "a number, mean, forward, backward, linear or none")
	}
	if err := o.Clip.each(func(_ string, c Clip) error {
		if c.HasLow && c.HasHigh && c.Low > c.High {
			return &loaderr.OptionError{Field: "clip", Value: fmt.Sprintf("[%v, %v]", c.Low, c.High), Allowed: "the lower bound first"}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := o.Scale.each(func(_, v string) error {
		return oneOf("scale", v, ScaleStandard, ScaleMinMax, ScaleRobust, ScaleMaxAbs, none)
	}); err != nil {
		return wordsOf(err, "standard, minmax, robust, maxabs or none")
	}
	if err := oneOf("scale_per", o.ScalePer, ScalePerColumn, ScalePerItem); err != nil {
		return err
	}
	if err := o.validateFit(); err != nil {
		return err
	}
	return o.validateCalendar()
}

func wordsOf(err error, allowed string) error {
	if e, ok := err.(*loaderr.OptionError); ok && e.Allowed != "a finite number" {
		e.Allowed = allowed
	}
	return err
}

// stepNames are the columns that the steps name.
func (o Options) stepNames() []stepNames {
	return []stepNames{{"fill", o.Fill.names()}, {"clip", o.Clip.names()}, {"log1p", o.Log1p.names()}, {"diff", o.Diff.names()}, {"scale", o.Scale.names()}}
}

type stepNames struct {
	field string
	names []string
}

// StepsFit reports whether every column that the steps name, also where they do nothing and the recipe leaves them out, is one of a generation
// that may have them.
func (o Options) StepsFit(columns []layout.ManifestColumn) bool {
	for _, named := range o.stepNames() {
		for _, name := range named.names {
			fits := func(c layout.ManifestColumn) bool {
				truths := c.DType == layout.Bool || c.SourceDType == string(layout.Bool)
				return c.Name == name && c.Role == layout.RoleValue && c.Unit == "" && c.DType != layout.Text && (!truths || named.field == "fill")
			}
			if !slices.ContainsFunc(columns, fits) {
				return false
			}
		}
	}
	return true
}

// CheckSteps refuses steps of columns that are not there or hold no numbers, and numbers that are too
// large for a column.
func (o Options) CheckSteps(columns []column.Column, roles []layout.Role) error {
	var numbers, truths []string
	for i, c := range columns {
		if roles[i] == layout.RoleValue && c.IsNumber() {
			numbers = append(numbers, c.Name)
		}
		if roles[i] == layout.RoleValue && c.IsBool() {
			truths = append(truths, c.Name)
		}
	}
	for _, named := range o.stepNames() {
		for _, name := range named.names {
			if slices.Contains(numbers, name) || named.field == "fill" && slices.Contains(truths, name) && (o.Fill.Of(name).truths() || o.Fill.Of(name) == Fill{}) {
				continue
			}
			if named.field == "fill" && slices.Contains(truths, name) {
				return &loaderr.OptionError{Field: named.field, Value: name, Allowed: "0, 1, forward or backward for a column of truth values"}
			}
			if i := slices.IndexFunc(columns, func(c column.Column) bool { return c.Name == name }); i >= 0 {
				return &loaderr.OptionError{Field: named.field, Value: name, Allowed: "value columns of numbers, not " + columns[i].Describe()}
			}
			return &loaderr.OptionError{Field: named.field, Value: name, Column: true, Allowed: strings.Join(near.Names(name, numbers), ", ")}
		}
	}
	for i, c := range columns {
		if c.Inferred { // more cells may make it floats: see prepareAll
			continue
		}
		if err := o.CheckNumbers(c, roles[i]); err != nil {
			return err
		}
	}
	return nil
}
