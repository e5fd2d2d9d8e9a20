package option

import (
	"encoding/json"
	"fmt"
)

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
