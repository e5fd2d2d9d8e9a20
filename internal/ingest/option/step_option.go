package option

import (
	"errors"
	"fmt"
	"strings"
)

// stepOption is the option of one step: a setting per column.
type stepOption interface {
	// name returns the name of the step; see [Setting].
	name() string
	// of returns the setting of a column.
	of(o *Options, column string) Setting
	// all returns every setting: that of all columns first, then those by name.
	all(o *Options) []Setting
	// columns returns the names of the columns that have a setting of their own, sorted.
	columns(o *Options) []string
	// hasOwn reports whether a column has a setting of its own.
	hasOwn(o *Options, column string) bool
	// isZero reports whether the option is not set.
	isZero(o *Options) bool
	// onBools returns which settings a column of booleans may have, for messages; "" for none.
	onBools() string
	// whatIsFitted returns which settings are fitted to the fit rows, for messages; "" for none.
	whatIsFitted() string
	// flag returns the flag that sets the option.
	flag(o *Options) StepFlag
}

// perColumnStep is the option of a step whose settings are of type T in [Options].
type perColumnStep[T comparable] struct {
	usage  string // of the flag
	bools  string // see stepOption.onBools
	fitted string // see stepOption.whatIsFitted
	commas bool   // settings of the flag may contain commas
	field  func(o *Options) *PerColumn[T]
	step   func(v T) Setting
	parse  func(text string) (T, error) // of a flag; nil if T is bool and the flag names columns
}

func (p perColumnStep[T]) name() string                { return p.step(*new(T)).Name() }
func (p perColumnStep[T]) onBools() string             { return p.bools }
func (p perColumnStep[T]) whatIsFitted() string        { return p.fitted }
func (p perColumnStep[T]) isZero(o *Options) bool      { return p.field(o).IsZero() }
func (p perColumnStep[T]) columns(o *Options) []string { return p.field(o).names() }

func (p perColumnStep[T]) hasOwn(o *Options, column string) bool {
	_, has := p.field(o).by[column]
	return has
}

func (p perColumnStep[T]) of(o *Options, column string) Setting {
	return p.step(p.field(o).Of(column))
}

func (p perColumnStep[T]) all(o *Options) []Setting {
	settings := p.field(o)
	all := []Setting{p.step(settings.rest)}
	for _, name := range settings.names() {
		all = append(all, p.step(settings.by[name]))
	}
	return all
}

func (p perColumnStep[T]) flag(o *Options) StepFlag {
	return StepFlag{Name: p.name(), Usage: p.usage, NamesColumns: p.parse == nil,
		set: func(text string) error {
			return parsePerColumn(p.split(text), p.parse, p.field(o))
		}}
}

// split splits the text of the flag at its commas. A part without a name belongs to the setting
// before it if settings may contain commas.
func (p perColumnStep[T]) split(text string) []string {
	parts := strings.Split(text, ",")
	if !p.commas {
		return parts
	}
	joined := []string{parts[0]}
	for _, part := range parts[1:] {
		if strings.Contains(part, "=") {
			joined = append(joined, part)
		} else {
			joined[len(joined)-1] += "," + part
		}
	}
	return joined
}

// StepFlag is the command line flag of a step. It implements the Value of package pflag.
type StepFlag struct {
	Name, Usage string
	// NamesColumns is true if the flag lists the columns of the step, and false if it has a value
	// for all columns or name=value pairs.
	NamesColumns bool

	set func(text string) error
}

// StepFlags returns the flags of all steps, which set options.
func StepFlags(o *Options) []StepFlag {
	flags := make([]StepFlag, len(stepOptions))
	for i, option := range stepOptions {
		flags[i] = option.flag(o)
	}
	return flags
}

// String returns "": a step has no default.
func (f StepFlag) String() string { return "" }

// Type returns the word for the flag's value in usage texts.
func (f StepFlag) Type() string { return "setting" }

// Set parses the flag's text. It refuses a flag that is given twice.
func (f StepFlag) Set(text string) error { return f.set(text) }

// parsePerColumn parses the parts of a flag: a value for all columns, or name=value pairs with "*"
// for all others. If parse is nil, they are names.
func parsePerColumn[T comparable](parts []string, parse func(string) (T, error),
	to *PerColumn[T]) error {
	if !to.IsZero() { // the second flag would replace the columns of the first
		return errors.New("the flag is given twice, want all columns in one")
	}
	by := map[string]T{}
	for _, part := range parts {
		name, value := everyOther, part
		switch at := strings.LastIndexByte(part, '='); {
		case parse == nil:
			name, value = part, "true"
		case at >= 0:
			name, value = part[:at], part[at+1:]
		}
		if name == "" || value == "" {
			return errors.New("got an empty part")
		}
		if _, again := by[name]; again {
			return fmt.Errorf("column %q is set twice", name)
		}
		var v T
		var err error
		if parse == nil {
			v = any(true).(T)
		} else if v, err = parse(value); err != nil {
			return err
		}
		by[name] = v
	}
	*to = ByColumn(by)
	return nil
}
