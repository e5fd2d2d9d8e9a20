package option

import (
	"errors"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Values of [Options.Scale].
const (
	ScaleStandard = "standard"
	ScaleMinMax   = "minmax"
	ScaleRobust   = "robust"
	ScaleMaxAbs   = "maxabs"
)

// Values of [Options.ScalePer].
const (
	ScalePerColumn = "column"
	ScalePerItem   = "item"
)

// Scale is how a column is scaled: standard, minmax, robust or maxabs; "" and none do not scale.
type Scale string

var scaleOption = perColumnStep[string]{
	usage:  "scale values: standard, minmax, robust, maxabs; or `a=robust,*=standard`",
	fitted: "scale",
	field:  func(o *Options) *PerColumn[string] { return &o.Scale },
	step:   func(kind string) Setting { return Scale(kind) },
	parse:  func(text string) (string, error) { return text, nil },
}

// Name implements [Setting].
func (s Scale) Name() string { return "scale" }

// IsOff implements [Setting].
func (s Scale) IsOff() bool { return s == "" || s == none }

// scaleSynonyms are names that other libraries have for scalings.
var scaleSynonyms = map[string]string{
	"zscore": ScaleStandard, "z-score": ScaleStandard, "z": ScaleStandard,
	"standardize": ScaleStandard, "standardscaler": ScaleStandard, "meanstd": ScaleStandard,
	"normalize": ScaleMinMax, "min-max": ScaleMinMax, "minmaxscaler": ScaleMinMax,
	"robustscaler": ScaleRobust, "max-abs": ScaleMaxAbs, "maxabsscaler": ScaleMaxAbs,
}

// Validate implements [Setting].
func (s Scale) Validate() error {
	switch s {
	case "", none, ScaleStandard, ScaleMinMax, ScaleRobust, ScaleMaxAbs:
		return nil
	}
	e := &loaderr.OptionError{
		Field: "scale", Value: string(s), Allowed: "standard, minmax, robust, maxabs or none",
	}
	if known := scaleSynonyms[strings.ToLower(strings.Trim(string(s), "-_ "))]; known != "" {
		e.Hint = "it is " + loaderr.Option("scale", known) + " here"
	}
	return e
}

// CheckScale refuses values of the options scale and scale_per that no column can have, and a scale
// that does nothing.
func CheckScale(scale, per string) error {
	s := Scale(scale)
	err := s.Validate()
	if e := (*loaderr.OptionError)(nil); s.IsOff() || errors.As(err, &e) {
		out := &loaderr.OptionError{Field: "scale", Value: scale, Allowed: "standard, minmax, robust or maxabs"}
		if e != nil {
			out.Hint = e.Hint
		}
		return out
	}
	return oneOf("scale_per", per, ScalePerColumn, ScalePerItem)
}

// Traits implements [Setting].
func (s Scale) Traits() Traits {
	return Traits{Fitted: true, UsesMoments: true, Searches: s == ScaleRobust, NewQuantity: true}
}

// canonicalScale leaves none out where it is the default, and writes it for a column that is
// excepted from another default.
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
