package sampler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
)

// Weights are the weights of items in the order [Bootstrap]. The zero value draws all windows with
// equal probability. In JSON they are a list, a name or null.
type Weights struct {
	Items []float64 // one for each item
	Name  string    // "" or EvenWeights; Items is nil with a name
}

// EvenWeights is the name of equal weights for all items that have windows.
const EvenWeights = "even"

// IsZero reports whether all windows are drawn with equal probability.
func (w Weights) IsZero() bool { return w.Items == nil && w.Name == "" }

// MarshalJSON returns a list, a name or null.
func (w Weights) MarshalJSON() ([]byte, error) {
	if w.Name != "" {
		return json.Marshal(w.Name)
	}
	return json.Marshal(w.Items)
}

// UnmarshalJSON parses a list, a name or null. [New] refuses other names than EvenWeights, and a null
// in a list, which is NaN here.
func (w *Weights) UnmarshalJSON(data []byte) error {
	*w = Weights{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &w.Name)
	}
	var items []*float64
	if err := json.Unmarshal(data, &items); err != nil || items == nil {
		return err
	}
	w.Items = make([]float64, len(items))
	for i, weight := range items {
		if w.Items[i] = math.NaN(); weight != nil {
			w.Items[i] = *weight
		}
	}
	return nil
}

// check returns an *OptionError if the name is unknown, or a weight is not a finite number from 0.
func (w Weights) check() error {
	switch {
	case w.Name != "" && w.Name != EvenWeights:
		return &OptionError{"weights", w.Name,
			fmt.Sprintf("%q, or one for each item", EvenWeights)}
	case w.Name != "" && w.Items != nil:
		return &OptionError{"weights", w.Name, "the name or Items, not both"}
	}
	for i, weight := range w.Items {
		if !(weight >= 0) || math.IsInf(weight, 0) {
			return &OptionError{fmt.Sprintf("weights[%d]", i), fmt.Sprint(weight), "a finite number from 0"}
		}
	}
	return nil
}

// cursor returns what a cursor says of the weights: a hash of those of items, or the name.
func (w Weights) cursor() string {
	if w.Items == nil {
		return w.Name
	}
	h := sha256.New()
	for _, weight := range w.Items {
		fmt.Fprintf(h, "%v,", weight)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// of returns the weight of an item. ok is false if there are too few weights.
func (w Weights) of(item int64) (weight float64, ok bool) {
	if w.Name == EvenWeights {
		return 1, true
	}
	if item >= int64(len(w.Items)) {
		return 0, false
	}
	return w.Items[item], true
}
