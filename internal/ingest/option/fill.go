package option

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Values of [Fill.How].
const (
	FillValue    = "value"
	FillMean     = "mean"
	FillForward  = "forward"
	FillBackward = "backward"
	FillLinear   = "linear"
)

// Fill is how missing cells of a column are filled: with a number, with the mean of the fit rows,
// with the item's last value before the gap (forward) or first value after it (backward), or on the
// line between the two (linear; after the item's last value with that value). A cell without such a
// value stays missing. In JSON it is the number or the word. The zero value fills nothing.
type Fill struct {
	How   string // "", value, mean, forward, backward, linear
	Value float64
}

var fillOption = perColumnStep[Fill]{
	usage:  "fill missing cells: a number, mean, forward, backward or linear; or `a=linear,b=0`",
	bools:  "0, 1, forward or backward",
	fitted: "fill mean",
	field:  func(o *Options) *PerColumn[Fill] { return &o.Fill },
	step:   func(f Fill) Setting { return f },
	parse:  parseFill,
}

// FillWith returns the fill with a number.
func FillWith(v float64) Fill { return Fill{How: FillValue, Value: v} }

// Name implements [Setting].
func (f Fill) Name() string { return "fill" }

// IsOff implements [Setting].
func (f Fill) IsOff() bool { return f == Fill{} }

// Validate implements [Setting].
func (f Fill) Validate() error {
	if f.Value-f.Value != 0 {
		return &loaderr.OptionError{Field: "fill", Value: fmt.Sprint(f.Value),
			Bare: true, Allowed: "a finite number"}
	}
	switch f.How {
	case "", none, FillValue, FillMean, FillForward, FillBackward, FillLinear:
		return nil
	}
	return &loaderr.OptionError{
		Field: "fill", Value: f.How, Allowed: "a number, mean, forward, backward, linear or none",
	}
}

// Traits implements [Setting].
func (f Fill) Traits() Traits {
	return Traits{
		Fitted:        f.How == FillMean,
		UsesMoments:   true,
		KeepsIntegers: f.How != FillMean && f.How != FillLinear && isWhole(f.Value),
		Bools: f.How == FillForward || f.How == FillBackward ||
			f.How == FillValue && (f.Value == 0 || f.Value == 1),
		Numbers: []float64{f.Value},
	}
}

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

// UnmarshalJSON reads the number or the word. [Options.Validate] refuses an unknown word.
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

// parseFill parses the number or the word of a flag.
func parseFill(text string) (f Fill, err error) {
	v, err := ParseNumber(text)
	if err == nil || errors.Is(err, ErrRounded) {
		return FillWith(v), err
	}
	word, _ := json.Marshal(text) // a text always marshals
	return f, json.Unmarshal(word, &f)
}
