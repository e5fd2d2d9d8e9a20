package tensorcache

import (
	"encoding/json"
	"fmt"

	"github.com/tensorcache/tensorcache/window"
)

// Rest stands in [Split.Lengths] and [Split.Fractions] for the one part that takes what the others
// leave.
const Rest = -1

// Where keeps the windows whose prediction rows all lie inside what is given.
type Where struct {
	Rows  *window.Bounds     // rows of each item, as window.Rows(0, 100)
	Time  *window.TimeBounds // the same by time
	Items []any              // values of items; nil keeps all
	// ContextBeforeSplit lets context reach back before the bound; nil means true.
	ContextBeforeSplit *bool
}

// Split parts windows by exactly one of Lengths, Fractions, AtTimes, Items and ItemFractions.
type Split struct {
	Lengths []int64 // rows of each part per item, from its start; one may be Rest
	// shares of each item's rows; one may be Rest, else the last takes the rest
	Fractions []float64
	AtTimes   []window.TimeValue // k bounds for k+1 parts
	Items     [][]any            // values of items, a list for each part
	// shares of the items, by a fixed hash of their names; one may be Rest
	ItemFractions []float64
	Purge         int64 // rows left out before each later part
	// ContextBeforeSplit lets a part's context reach back before its first row; nil means true.
	ContextBeforeSplit *bool
	Names              []string // of the parts; nil is train, val, test and the like
}

// object collects the fields of a JSON object.
type jsonObject map[string]any

func (o jsonObject) addIf(name string, given bool, value any) {
	if given {
		o[name] = value
	}
}

// cut is the where as the daemon reads it.
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

// request is the split as the daemon reads it.
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

// withRest writes Rest as null.
func restAsNull[T int64 | float64](values []T) []*T {
	out := make([]*T, len(values))
	for i := range values {
		if values[i] != Rest {
			out[i] = &values[i]
		}
	}
	return out
}

// latestCut keeps, for every item, the window to forecast from.
var latestCut = json.RawMessage(`{"latest":true}`)

// canonicalSpec is a spec as the daemon reads it; the error is of type InvalidSpec.
func encodeSpec(spec window.Spec) (json.RawMessage, error) {
	b, err := spec.MarshalJSON()
	if err != nil {
		return nil, clientError(fmt.Errorf("spec: %w", err))
	}
	return b, nil
}
