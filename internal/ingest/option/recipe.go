package option

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// Fill says how missing cells of a column are filled: with a number; with the mean of the fit rows; with the item's value before
// (forward) or after (backward); on the line between the two, and after the last one with that (linear). Cells for which there is
// no such value stay missing. In JSON it is the number or the word. The zero value fills nothing.
type Fill struct {
	How   string // "", value, mean, forward, backward, linear
	Value float64
}

// FillWith fills with a number.
func FillWith(v float64) Fill { return Fill{How: FillValue, Value: v} }

// MarshalJSON writes the number or the word.
func (f Fill) MarshalJSON() ([]byte, error) {
	switch f.How {
	case FillValue:
		return json.Marshal(f.Value)
	case "":
		return json.Marshal(none)
	}
	return json.Marshal(f.How)
}

// UnmarshalJSON reads the number or the word. An unknown word is for [Options.Validate] to refuse.
func (f *Fill) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*f = Fill{}
		if err := json.Unmarshal(b, &f.How); err != nil || f.How != none {
			return err
		}
		*f = Fill{}
		return nil
	}
	f.How = FillValue
	return json.Unmarshal(b, (*jsonNumber)(&f.Value))
}

// Clip is the least and the greatest value that a column keeps; nearer ones replace what is beyond. In JSON [low, high] with null
// for an open end. The zero value clips nothing.
type Clip struct {
	Low, High       float64
	HasLow, HasHigh bool
}

// MarshalJSON writes [low, high].
func (c Clip) MarshalJSON() ([]byte, error) {
	var out [2]*float64
	if c.HasLow {
		out[0] = &c.Low
	}
	if c.HasHigh {
		out[1] = &c.High
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads [low, high].
func (c *Clip) UnmarshalJSON(b []byte) error {
	var in []*jsonNumber
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if len(in) != 2 {
		return fmt.Errorf("want [low, high], null for none, got %s", b)
	}
	*c = Clip{}
	if in[0] != nil {
		c.Low, c.HasLow = float64(*in[0]), true
	}
	if in[1] != nil {
		c.High, c.HasHigh = float64(*in[1]), true
	}
	return nil
}

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

// truths reports whether truth values can be filled so: with 0 or 1, forward or backward.
func (f Fill) truths() bool {
	return f.How == FillForward || f.How == FillBackward || f.How == FillValue && (f.Value == 0 || f.Value == 1)
}

// canonicalScale leaves out none if it is what all others are, and spells it so elsewhere.
func canonicalScale(p PerColumn[string]) PerColumn[string] {
	out := PerColumn[string]{rest: p.rest, by: map[string]string{}}
	if out.rest == none {
		out.rest = ""
	}
	for name, v := range p.by {
		switch {
		case v != "" && v != none:
			out.by[name] = v
		case out.rest != "":
			out.by[name] = none
		}
	}
	return out
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

// validateFit checks what the fits see.
func (o Options) validateFit() error {
	given := []struct{ field, value string }{
		{"scale_per", o.ScalePer}, {"fit_rows", textIf(o.FitRows != nil, o.fitText())}, {"fit_before", strings.Trim(string(o.FitBefore), `"`)},
		{"fit_fraction", textIf(o.FitFraction != nil, o.fraction())}, {"fit_sample", textIf(o.FitSample != 0, strconv.FormatInt(o.FitSample, 10))},
	}
	for _, g := range given {
		if g.value != "" && !o.IsFitted() {
			return &loaderr.OptionError{Field: g.field, Value: g.value, Allowed: "it only together with scale or fill mean"}
		}
	}
	if r := o.FitRows; r != nil && r[0] != nil && r[1] != nil && (*r[0] < 0) == (*r[1] < 0) && *r[0] >= *r[1] {
		return &loaderr.OptionError{Field: "fit_rows", Value: o.fitText(), Allowed: "a first row before the second"}
	}
	if f := o.FitFraction; f != nil && !(*f > 0 && *f <= 1) {
		return &loaderr.OptionError{Field: "fit_fraction", Value: o.fraction(), Allowed: "a share above 0, up to 1"}
	}
	if o.FitSample < 0 {
		return &loaderr.OptionError{Field: "fit_sample", Value: strconv.FormatInt(o.FitSample, 10), Allowed: "a number of rows from 1"}
	}
	if o.FitSeed != 0 && o.FitSample == 0 {
		return &loaderr.OptionError{Field: "fit_seed", Value: strconv.FormatInt(o.FitSeed, 10), Allowed: "it only together with fit_sample"}
	}
	before, err := ReadTime("fit_before", o.FitBefore)
	if before != nil && o.Time == "" {
		return &loaderr.OptionError{Field: "fit_before", Value: before.String(), Allowed: "it only together with time"}
	}
	return err
}

func textIf(given bool, text string) string {
	if given {
		return text
	}
	return ""
}

func (o Options) fraction() string {
	if o.FitFraction == nil {
		return ""
	}
	return strconv.FormatFloat(*o.FitFraction, 'g', -1, 64)
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

func (c Clip) Apply(values []float64) {
	for i, v := range values {
		if c.HasLow && v < c.Low {
			values[i] = c.Low
		}
		if c.HasHigh && v > c.High {
			values[i] = c.High
		}
	}
}
