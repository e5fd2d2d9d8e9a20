package tensorcache

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// conformanceCase is a file of testdata/conformance, which all clients run. Its README describes
// it.
type conformanceCase struct {
	Dataset struct {
		Columns []caseColumn `json:"columns"`
		Options LoadOptions  `json:"options"`
	} `json:"dataset"`
	Windows []struct {
		Spec json.RawMessage `json:"spec"`
		Cuts []caseCut       `json:"cuts"`
		Plan struct {
			Windows, Positions int64
			Rejected           map[window.Reason]int64
		} `json:"plan"`
		At []struct {
			Numbers []int64             `json:"numbers"`
			Parts   map[string]casePart `json:"parts"`
		} `json:"at"`
		Feeds []caseFeed `json:"feeds"`
	} `json:"windows"`
	Errors  []caseError `json:"errors"`
	Inverse []struct {
		Column string
		Values []*float64
	} `json:"inverse"`
}

type caseColumn struct {
	Name   string            `json:"name"`
	DType  string            `json:"dtype"`
	Width  int               `json:"width"`
	Values []json.RawMessage `json:"values"`
}

type caseCut struct {
	Where  *caseWhere `json:"where"`
	Before *bool      `json:"context_before_split"`
	Split  *caseSplit `json:"split"`
	Part   int        `json:"part"`
}

type caseWhere struct {
	Rows  *window.Bounds     `json:"rows"`
	Time  *window.TimeBounds `json:"time"`
	Items []any              `json:"items"`
}

type caseSplit struct {
	Lengths   []*int64           `json:"lengths"`
	Fractions []*float64         `json:"fractions"`
	AtTimes   []window.TimeValue `json:"at_times"`
	Items     []json.RawMessage  `json:"items"`
	Purge     int64              `json:"purge"`
	Before    *bool              `json:"context_before_split"`
}

type caseOptions struct {
	BatchSize   *int64          `json:"batch_size"` // nil for whole groups
	Order       string          `json:"order"`
	Seed        uint64          `json:"seed"`
	Rank        int64           `json:"rank"`
	NumReplicas int64           `json:"num_replicas"`
	Tail        string          `json:"tail"`
	Weights     sampler.Weights `json:"weights"`
	MinItems    int64           `json:"min_items"`
	PassBatches int64           `json:"batches_per_epoch"`
	Delivery    string          `json:"delivery"`
}

func (o caseOptions) feed() FeedOptions {
	f := FeedOptions{Delivery: o.Delivery, Order: o.Order, Seed: o.Seed, Rank: o.Rank,
		NumReplicas: o.NumReplicas, Tail: o.Tail, MinItems: o.MinItems,
		BatchesPerEpoch: o.PassBatches, Weights: o.Weights.Items, EvenWeights: o.Weights.Name == sampler.EvenWeights}
	if f.WholeGroups = o.BatchSize == nil; !f.WholeGroups {
		f.BatchSize = *o.BatchSize
	}
	return f
}

type caseFeed struct {
	Options       caseOptions `json:"options"`
	ChannelsFirst bool        `json:"channels_first"`
	Mask          bool        `json:"mask"`
	Parts         []FeedPart  `json:"parts"`
	View          bool        `json:"view"`
	Epoch         uint64      `json:"epoch"`
	Consumed      int64       `json:"consumed"`
	Ranks         [][]struct {
		State [2]uint64           `json:"state"`
		Parts map[string]casePart `json:"parts"`
	} `json:"ranks"`
}

type casePart struct {
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	SHA256 string `json:"sha256"`
}

type caseError struct {
	Ask     string          `json:"ask"`
	Name    string          `json:"name"`
	Item    any             `json:"item"`
	Spec    json.RawMessage `json:"spec"`
	Where   caseWhere       `json:"where"`
	Split   caseSplit       `json:"split"`
	Options caseOptions     `json:"options"`
	State   json.RawMessage `json:"state"`
	Type    Type            `json:"type"`
	Field   string          `json:"field"`
}

func (s conformanceCase) columns(t *testing.T) (out []PutColumn) {
	t.Helper()
	for _, c := range s.Dataset.Columns {
		switch c.DType {
		case "text":
			out = append(out, Texts(c.Name, valuesOf[string](t, c)))
		case "float32":
			out = append(out, Matrix(c.Name, valuesOf[float32](t, c), c.Width))
			if c.Width == 0 {
				out[len(out)-1] = Values(c.Name, valuesOf[float32](t, c))
			}
		case "int32":
			out = append(out, Values(c.Name, valuesOf[int32](t, c)))
		case "int64":
			out = append(out, Values(c.Name, valuesOf[int64](t, c)))
		case "timestamp[s]":
			out = append(out, Timestamps(c.Name, "s", valuesOf[int64](t, c)))
		default:
			t.Fatalf("a column of %s", c.DType)
		}
	}
	return out
}

// valuesOf parses the values of a column, in which null is NaN.
func valuesOf[V any](t *testing.T, c caseColumn) []V {
	t.Helper()
	out := make([]V, len(c.Values))
	for i, raw := range c.Values {
		if missing, ok := any(&out[i]).(*float32); ok && string(raw) == "null" {
			*missing = float32(math.NaN())
			continue
		}
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			t.Fatal(c.Name, i, err)
		}
	}
	return out
}

func (w caseWhere) where(before *bool) Where {
	return Where{Rows: w.Rows, Time: w.Time, Items: w.Items, ContextBeforeSplit: before}
}

func (s caseSplit) split() (Split, error) {
	out := Split{AtTimes: s.AtTimes, Purge: s.Purge, ContextBeforeSplit: s.Before}
	for _, l := range s.Lengths {
		out.Lengths = append(out.Lengths, orRest(l))
	}
	for _, f := range s.Fractions {
		out.Fractions = append(out.Fractions, orRest(f))
	}
	for _, item := range s.Items {
		var list []any
		var share *float64
		if json.Unmarshal(item, &list) == nil && list != nil {
			out.Items = append(out.Items, list)
		} else if err := json.Unmarshal(item, &share); err != nil {
			return out, err
		} else {
			out.ItemFractions = append(out.ItemFractions, orRest(share))
		}
	}
	return out, nil
}

func orRest[V int64 | float64](v *V) V {
	if v == nil {
		return Rest
	}
	return *v
}

func (c caseCut) apply(ctx context.Context, w *Windows) (*Windows, error) {
	switch {
	case c.Where != nil:
		return w.Where(ctx, c.Where.where(c.Before))
	case c.Split == nil:
		return w.Latest(ctx)
	}
	s, err := c.Split.split()
	if err != nil {
		return nil, err
	}
	parts, err := w.Split(ctx, s)
	if err != nil {
		return nil, err
	}
	return parts[c.Part], nil
}
