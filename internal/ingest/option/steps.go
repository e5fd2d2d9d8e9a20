package option

import (
	"math"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/layout"
)

// stepOptions are the options of all steps, in the order in which the steps are applied. A new step
// is a file with its [Setting], a field of [Options], and an entry here; package step applies it.
var stepOptions = []stepOption{
	fillOption, clipOption, log1pOption, diffOption, winsorizeOption, scaleOption,
}

// none is the word for a setting that does nothing.
const none = "none"

// Setting is what one step does to one column. The zero value of every implementation does nothing.
type Setting interface {
	// Name returns the name of the step, which is that of its JSON field and of its flag.
	Name() string
	// IsOff reports whether the step does nothing.
	IsOff() bool
	// Validate refuses a setting that no column can have. The error is a [loaderr.OptionError].
	Validate() error
	// Traits returns what a load must know before it applies the step. IsOff is false.
	Traits() Traits
}

// Traits are properties of a setting. The zero value is a step that needs no fit, makes floats of
// integers, and leaves out columns of booleans.
type Traits struct {
	// Fitted is true if the step is fitted to the fit rows.
	Fitted bool
	// UsesMoments is true if the step uses the moments of the column, or whether values are
	// missing. They are then measured while the column is read.
	UsesMoments bool
	// Searches is true if moments do not suffice to fit the step: it reads all values again.
	Searches bool
	// KeepsIntegers is true if the results of integers are integers. Values pass through float64,
	// so integers beyond 2^53 are refused; see [Steps.Exact].
	KeepsIntegers bool
	// ExactIntegers is true if the step refuses integers that float64 may have rounded, although
	// its results are floats.
	ExactIntegers bool
	// NewQuantity is true if the results are another quantity than the values, which is stored as
	// float32 unless the options ask for another dtype.
	NewQuantity bool
	// Bools is true if the step applies to booleans, and the results are booleans.
	Bools bool
	// Numbers are the numbers of the setting that a column of integers may store.
	Numbers []float64
}

// Steps are the steps of one column, in their order, without those that do nothing.
type Steps []Setting

// StepsOf returns the steps of a column. They are nil unless it is a value column of numbers or
// booleans.
func (o Options) StepsOf(c column.Column, role layout.Role) Steps {
	if role != layout.RoleValue || !c.IsNumber() && !c.IsBool() {
		return nil
	}
	var steps Steps
	for _, option := range stepOptions {
		if c.Calendar != "" && !option.hasOwn(&o, c.Name) { // only a step that names it changes it
			continue
		}
		s := option.of(&o, c.Name)
		if !s.IsOff() && (c.IsNumber() || s.Traits().Bools) {
			steps = append(steps, s)
		}
	}
	return steps
}

// NullableBools reports whether booleans of a text file may be missing in a column: they are filled,
// or the option dtype stores numbers. That is also true if the options name the column for a step
// that booleans cannot have, which [Options.CheckSteps] refuses.
func (o Options) NullableBools(name string, role layout.Role) bool {
	if role != layout.RoleValue {
		return false
	}
	named := func(s stepOption) bool {
		return s.hasOwn(&o, name) && !s.of(&o, name).IsOff()
	}
	return o.DType.By[name] != "" || slices.ContainsFunc(stepOptions, named) ||
		len(o.StepsOf(column.Column{Name: name, Kind: column.KindBool}, role)) > 0
}

// Names returns the names of the steps for messages, such as "fill and clip".
func (s Steps) Names() string {
	names := make([]string, len(s))
	for i, step := range s {
		names[i] = step.Name()
	}
	return strings.Join(names, " and ")
}

// KeepsIntegers reports whether the results of integers are integers.
func (s Steps) KeepsIntegers() bool {
	return !slices.ContainsFunc(s, func(s Setting) bool { return !s.Traits().KeepsIntegers })
}

// Exact returns the steps that refuse integers which float64 may have rounded: all if the results
// of integers are integers, else those with [Traits.ExactIntegers].
func (s Steps) Exact() Steps {
	if s.KeepsIntegers() {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s),
		func(s Setting) bool { return !s.Traits().ExactIntegers })
}

// UseMoments reports whether a step uses the moments of the column, or whether values are missing.
func (s Steps) UseMoments() bool {
	return slices.ContainsFunc(s, func(s Setting) bool { return s.Traits().UsesMoments })
}

// StoredAs returns the dtype of a column after its steps. asked is the dtype that the options give
// the column by name, "" for none.
func (s Steps) StoredAs(was, asked layout.DType) layout.DType {
	switch {
	case len(s) == 0:
	case s.KeepsIntegers() && !was.IsFloat():
	case asked != "":
		return asked
	case slices.ContainsFunc(s, func(s Setting) bool { return s.Traits().NewQuantity }):
		return layout.Float32
	case !was.IsFloat():
		return layout.Float64
	}
	return was
}

// HasSteps reports whether any column may have steps.
func (o Options) HasSteps() bool {
	return slices.ContainsFunc(stepOptions, func(s stepOption) bool { return !s.isZero(&o) })
}

// IsFitted reports whether a step may be fitted.
func (o Options) IsFitted() bool {
	for _, option := range stepOptions {
		for _, s := range option.all(&o) {
			if !s.IsOff() && s.Traits().Fitted {
				return true
			}
		}
	}
	return false
}

// validateSteps checks the steps and the rows that they are fitted to.
func (o Options) validateSteps() error {
	for _, option := range stepOptions {
		for _, s := range option.all(&o) {
			if err := s.Validate(); err != nil {
				return err
			}
		}
	}
	if err := oneOf("scale_per", o.ScalePer, ScalePerColumn, ScalePerItem); err != nil {
		return err
	}
	if err := o.validateFit(); err != nil {
		return err
	}
	return o.validateCalendar()
}

// StepsFit reports whether a generation has every column that a step names, and the column may have
// the step. It also checks settings that do nothing, which the recipe leaves out.
func (o Options) StepsFit(columns []layout.ManifestColumn) bool {
	by := make(map[string]layout.ManifestColumn, len(columns))
	for _, c := range columns {
		by[c.Name] = c
	}
	for _, option := range stepOptions {
		for _, name := range option.columns(&o) {
			c := by[name]
			bools := c.DType == layout.Bool || c.SourceDType == string(layout.Bool)
			if c.Role != layout.RoleValue || c.Unit != "" || c.DType == layout.Text ||
				bools && option.onBools() == "" {
				return false
			}
		}
	}
	return true
}

// CheckSteps refuses a step that names a column that does not exist or cannot have the step, and
// numbers that are too large for a column of integers. The error is a [loaderr.OptionError].
func (o Options) CheckSteps(columns []column.Column, roles []layout.Role) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	places := column.Places(names)
	for _, option := range stepOptions {
		for _, name := range option.columns(&o) {
			if err := o.checkStep(option, name, columns, roles, places); err != nil {
				return err
			}
		}
	}
	for i, c := range columns {
		if c.Inferred || !o.StaysWhole(c, roles[i]) { // a later cell may widen it to floats
			continue
		}
		if err := o.StepsOf(c, roles[i]).CheckNumbers(c.Name); err != nil {
			return err
		}
	}
	return nil
}

// checkStep refuses the named column of a step. places are those of the columns by name.
func (o Options) checkStep(option stepOption, name string, columns []column.Column,
	roles []layout.Role, places map[string]int) error {
	refusal := &loaderr.OptionError{Field: option.name(), Value: name}
	at, found := places[name]
	if !found {
		var numbers []string
		for i, c := range columns {
			if roles[i] == layout.RoleValue && c.IsNumber() {
				numbers = append(numbers, c.Name)
			}
		}
		refusal.Column, refusal.Allowed = true, near.List(near.Names(name, numbers))
		return refusal
	}
	c, isValue := columns[at], roles[at] == layout.RoleValue
	switch s := option.of(&o, name); {
	case isValue && (c.IsNumber() || c.IsBool() && (s.IsOff() || s.Traits().Bools) &&
		option.onBools() != ""):
		return nil
	case isValue && c.IsBool() && option.onBools() != "":
		refusal.Allowed = option.onBools() + " for a column of booleans"
	default:
		refusal.Allowed = "value columns of numbers, not " + c.Describe()
	}
	return refusal
}

// isWhole reports whether a number is an integer.
func isWhole(v float64) bool { return v == math.Trunc(v) }
