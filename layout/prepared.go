package layout

import (
	"bytes"
	"encoding/json"
	"math"
)

// Prepared says what a load did to a column's values before it scaled them, in this order: fill, clip, log1p, diff.
type Prepared struct {
	// Fill is value, mean, forward, backward, linear or "".
	Fill string `json:"fill,omitempty"`
	// FillValue is what value and mean filled with: one number; for mean one per feature, or per item and feature where FillPer is
	// item.
	FillValue Floats   `json:"fill_value,omitempty"`
	FillPer   string   `json:"fill_per,omitempty"`
	ClipLow   *float64 `json:"clip_low,omitempty"`
	ClipHigh  *float64 `json:"clip_high,omitempty"`
	Log1p     bool     `json:"log1p,omitempty"`
	Diff      bool     `json:"diff,omitempty"`
	// First is, per item and feature, the value that the first difference is above (after log1p); nil where there are too many to be
	// kept.
	First Floats `json:"first,omitempty"`
}

// Floats are float64 values of which some may be NaN: null in JSON.
type Floats []float64

// MarshalJSON writes numbers, and null for what is no finite one.
func (f Floats) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if math.IsInf(v, 0) || v != v {
			b.WriteString("null")
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// UnmarshalJSON reads null as NaN.
func (f *Floats) UnmarshalJSON(b []byte) error {
	var in []*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = make(Floats, len(in))
	for i, v := range in {
		if (*f)[i] = math.NaN(); v != nil {
			(*f)[i] = *v
		}
	}
	return nil
}
