package option

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Clip are the bounds of a column's values. A value beyond a bound is replaced by it. In JSON it is
// [low, high], with null for an open end. The zero value clips nothing.
type Clip struct {
	Low, High       float64
	HasLow, HasHigh bool
}

var clipOption = perColumnStep[Clip]{
	usage: "keep values within bounds, as -3:3, 0: or `a=-3:3,b=0:`",
	field: func(o *Options) *PerColumn[Clip] { return &o.Clip },
	step:  func(c Clip) Setting { return c },
	parse: parseClip,
}

// Name implements [Setting].
func (c Clip) Name() string { return "clip" }

// IsOff implements [Setting].
func (c Clip) IsOff() bool { return !c.HasLow && !c.HasHigh }

// Validate implements [Setting].
func (c Clip) Validate() error {
	if c.HasLow && c.HasHigh && c.Low > c.High {
		return &loaderr.OptionError{
			Field: "clip", Value: fmt.Sprintf("[%v, %v]", c.Low, c.High),
			Bare: true, Allowed: "the lower bound first",
		}
	}
	return nil
}

// Traits implements [Setting].
func (c Clip) Traits() Traits {
	return Traits{KeepsIntegers: isWhole(c.Low) && isWhole(c.High),
		Numbers: []float64{c.Low, c.High}}
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

// parseClip parses the bounds of a flag, low:high.
func parseClip(text string) (c Clip, err error) {
	low, high, ok := strings.Cut(text, ":")
	read := func(text string, v *float64, has *bool) {
		if text == "" {
			return
		}
		n, e := ParseNumber(text)
		if errors.Is(e, ErrRounded) {
			err = e
		}
		ok = ok && e == nil
		*v, *has = n, true
	}
	read(low, &c.Low, &c.HasLow)
	read(high, &c.High, &c.HasHigh)
	if !ok && err == nil {
		err = fmt.Errorf("got %q, want bounds as -3:3, with an end left out for none", text)
	}
	return c, err
}
