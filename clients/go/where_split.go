package tensorcache

import (
	"encoding/json"
	"fmt"

	"github.com/tensorcache/tensorcache/window"
)

// Rest is the length or fraction of the one part of a [Split] that gets everything that the other
// parts leave.
const Rest = -1

// Where keeps the windows whose prediction rows are all inside its bounds.
type Where struct {
	Rows  *window.Bounds     // rows of each item, such as window.Rows(0, 100)
	Time  *window.TimeBounds // times
	Items []any              // values of items, not codes; nil keeps all
	// ContextBeforeSplit allows context rows before the bounds; nil means true.
	ContextBeforeSplit *bool
}

// Split cuts windows into parts by exactly one of Lengths, Fractions, AtTimes, Items and
// ItemFractions.
type Split struct {
	Lengths []int64 // rows of each part, in each item from its start; one may be Rest
	// Fractions are each part's share of an item's rows. One may be Rest; else the last part gets
	// the rows that are left.
	Fractions []float64
	AtTimes   []window.TimeValue // n times between n+1 parts
	Items     [][]any            // names of the items of each part
	// ItemFractions are each part's share of the items, by a fixed hash of their names. One may be
	// Rest.
	ItemFractions []float64
	Purge         int64 // rows to leave out before each part except the first
	// ContextBeforeSplit allows context rows before the part's first row; nil means true.
	ContextBeforeSplit *bool
	// Names are the names of the parts. Nil is train and test, or train, val and test, or for more
	// parts part0, part1 and so on.
	Names []string
}

// jsonObject is the fields of a JSON object.
type jsonObject map[string]any

// addIf adds a field if it is given.
func (o jsonObject) addIf(name string, given bool, value any) {
	if given {
		o[name] = value
	}
}

// encode returns the cut in JSON.
func (w Where) encode() (json.RawMessage, error) {
	fields := jsonObject{}
	fields.addIf("rows", w.Rows != nil, w.Rows)
	fields.addIf("time", w.Time != nil, w.Time)
	if w.Items != nil {
		items, err := encodeItems(w.Items)
		if err != nil {
			return nil, err
		}
		fields["items"] = items
	}
	cut := jsonObject{"where": fields}
	cut.addIf("context_before_split", w.ContextBeforeSplit != nil, w.ContextBeforeSplit)
	return json.Marshal(cut)
}

// encode returns the split in JSON.
func (s Split) encode() (json.RawMessage, error) {
	fields := jsonObject{}
	fields.addIf("lengths", s.Lengths != nil, restAsNull(s.Lengths))
	fields.addIf("fractions", s.Fractions != nil, restAsNull(s.Fractions))
	fields.addIf("at_times", s.AtTimes != nil, s.AtTimes)
	fields.addIf("purge", s.Purge != 0, s.Purge)
	fields.addIf("context_before_split", s.ContextBeforeSplit != nil, s.ContextBeforeSplit)
	fields.addIf("names", s.Names != nil, s.Names)
	switch {
	case s.Items != nil && s.ItemFractions != nil:
		return nil, errorf(InvalidSpec, "items", "items: got lists and fractions, want one of them")
	case s.ItemFractions != nil:
		fields["items"] = restAsNull(s.ItemFractions)
	case s.Items != nil:
		lists := make([]json.RawMessage, len(s.Items))
		for i, list := range s.Items {
			var err error
			if lists[i], err = encodeItems(list); err != nil {
				return nil, err
			}
		}
		fields["items"] = lists
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return nil, errorf(InvalidSpec, "split", "split: %v", err)
	}
	return b, nil
}

// restAsNull returns the values with null in place of Rest.
func restAsNull[T int64 | float64](values []T) []*T {
	out := make([]*T, len(values))
	for i := range values {
		if values[i] != Rest {
			out[i] = &values[i]
		}
	}
	return out
}

// latestCut keeps each item's window to predict from.
var latestCut = json.RawMessage(`{"latest":true}`)

// encodeSpec returns a spec in JSON. The error is of type InvalidSpec.
func encodeSpec(spec window.Spec) (json.RawMessage, error) {
	b, err := spec.MarshalJSON()
	if err != nil {
		return nil, clientError(fmt.Errorf("spec: %w", err))
	}
	return b, nil
}
