package option

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// validateFit checks the options of the rows that steps are fitted to.
func (o Options) validateFit() error {
	given := []struct{ field, value string }{ // values as JSON
		{"scale_per", textIf(o.ScalePer != "", strconv.Quote(o.ScalePer))},
		{"fit_rows", textIf(o.FitRows != nil, o.fitText())},
		{"fit_before", string(o.FitBefore)},
		{"fit_fraction", textIf(o.FitFraction != nil, o.fraction())},
		{"fit_sample", textIf(o.FitSample != 0, strconv.FormatInt(o.FitSample, 10))},
	}
	for _, g := range given {
		if g.value != "" && !o.IsFitted() {
			return (&loaderr.OptionError{
				Field: g.field, Allowed: "it only together with " + fittedSteps(),
			}).WithJSON([]byte(g.value))
		}
	}
	if r := o.FitRows; r != nil && r[0] != nil && r[1] != nil && (*r[0] < 0) == (*r[1] < 0) &&
		*r[0] >= *r[1] {
		return &loaderr.OptionError{Field: "fit_rows", Value: o.fitText(),
			Bare: true, Allowed: "a first row before the second"}
	}
	if f := o.FitFraction; f != nil && !(*f > 0 && *f <= 1) {
		return &loaderr.OptionError{Field: "fit_fraction", Value: o.fraction(),
			Bare: true, Allowed: "a share above 0, up to 1"}
	}
	if o.FitSample < 0 {
		return &loaderr.OptionError{
			Field: "fit_sample", Value: strconv.FormatInt(o.FitSample, 10),
			Bare: true, Allowed: "a number of rows from 1",
		}
	}
	if o.FitSeed != 0 && o.FitSample == 0 {
		return &loaderr.OptionError{
			Field: "fit_seed", Value: strconv.FormatInt(o.FitSeed, 10),
			Bare: true, Allowed: "it only together with fit_sample",
		}
	}
	before, err := ReadTime("fit_before", o.FitBefore)
	if before != nil && o.Time == "" {
		return (&loaderr.OptionError{Field: "fit_before",
			Allowed: "it only together with time"}).WithJSON(o.FitBefore)
	}
	return err
}

// fittedSteps returns the settings of steps that are fitted, for messages.
func fittedSteps() string {
	var all []string
	for _, option := range stepOptions {
		if what := option.whatIsFitted(); what != "" {
			all = append(all, what)
		}
	}
	return strings.Join(all, " or ")
}

// textIf returns the text of an option that is given, else "".
func textIf(given bool, text string) string {
	if given {
		return text
	}
	return ""
}

// fraction returns fit_fraction as text, "" if it is not given.
func (o Options) fraction() string {
	if o.FitFraction == nil {
		return ""
	}
	return strconv.FormatFloat(*o.FitFraction, 'g', -1, 64)
}

// fitText returns fit_rows as JSON.
func (o Options) fitText() string {
	b, _ := json.Marshal(o.FitRows) // numbers and nulls always marshal
	return string(b)
}
