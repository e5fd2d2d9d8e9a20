package option

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Winsorize are the quantiles that a column's values are clipped at: fractions of the values in the
// fit rows, as 0.01 and 0.99. In JSON it is [low, high], or none. The zero value clips nothing.
type Winsorize struct {
	Low, High float64
	On        bool
}

var winsorizeOption = perColumnStep[Winsorize]{
	usage:  "clip values at fitted quantiles, as 0.01,0.99 or `a=0.01:0.99,b=0.05:0.95`",
	fitted: "winsorize",
	commas: true,
	field:  func(o *Options) *PerColumn[Winsorize] { return &o.Winsorize },
	step:   func(w Winsorize) Setting { return w },
	parse:  parseWinsorize,
}

// Name implements [Setting].
func (w Winsorize) Name() string { return "winsorize" }

// IsOff implements [Setting].
func (w Winsorize) IsOff() bool { return !w.On }

// Validate implements [Setting].
func (w Winsorize) Validate() error {
	if w.On && !(0 <= w.Low && w.Low < w.High && w.High <= 1) {
		return &loaderr.OptionError{
			Field: "winsorize", Value: fmt.Sprintf("[%v, %v]", w.Low, w.High),
			Bare: true, Allowed: "two quantiles from 0 to 1, the lower one first",
		}
	}
	return nil
}

// Traits implements [Setting].
func (w Winsorize) Traits() Traits {
	return Traits{Fitted: true, UsesMoments: true, Searches: true, ExactIntegers: true}
}

// MarshalJSON writes [low, high], or none.
func (w Winsorize) MarshalJSON() ([]byte, error) {
	if !w.On {
		return json.Marshal(none)
	}
	return json.Marshal([]float64{w.Low, w.High})
}

// UnmarshalJSON reads [low, high], or none.
func (w *Winsorize) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil && word == none {
		*w = Winsorize{}
		return nil
	}
	var in []*float64
	if json.Unmarshal(b, &in) != nil || len(in) != 2 || in[0] == nil || in[1] == nil {
		return fmt.Errorf("want two quantiles as [0.01, 0.99], or none, got %s", b)
	}
	*w = Winsorize{Low: *in[0], High: *in[1], On: true}
	return nil
}

// parseWinsorize parses the quantiles of a flag, low,high or low:high, or none.
func parseWinsorize(text string) (Winsorize, error) {
	if text == none {
		return Winsorize{}, nil
	}
	low, high, ok := strings.Cut(strings.ReplaceAll(text, ",", ":"), ":")
	w := Winsorize{On: true}
	var errLow, errHigh error
	w.Low, errLow = ParseNumber(low)
	w.High, errHigh = ParseNumber(high)
	if !ok || errLow != nil || errHigh != nil {
		return w, fmt.Errorf("got %q, want two quantiles as 0.01,0.99, or none", text)
	}
	return w, nil
}
