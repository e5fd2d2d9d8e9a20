package option

import "encoding/json"

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

// truths reports whether truth values can be filled so: with 0 or 1, forward or backward.
func (f Fill) truths() bool {
	return f.How == FillForward || f.How == FillBackward || f.How == FillValue && (f.Value == 0 || f.Value == 1)
}
