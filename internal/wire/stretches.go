package wire

import "github.com/tensorcache/tensorcache/window"

// StretchesRequest asks which positions of one item are windows, and why others are not.
type StretchesRequest struct {
	Parts
	Code int64 `json:"code"`
}

// Stretches answers POST /v1/datasets/{name}/stretches. Windows, positions and rejections are the
// item's under spec and cuts. With a split the stretches are those of its parts, in their order; a
// position in no part is in none of them.
type Stretches struct {
	Code      int64                   `json:"code"`
	Item      any                     `json:"item"`
	Rows      int64                   `json:"rows"`
	Stride    int64                   `json:"stride"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
	Splits    []ItemSplit             `json:"splits,omitempty"`
	Stretches []Stretch               `json:"stretches"`
	// Merged tells that stretches were joined with others, because there are too many of them.
	Merged bool `json:"merged,omitempty"`
}

// ItemSplit is what of an item one part of a split has: its prediction rows lie in the rows [From,
// To).
type ItemSplit struct {
	Name      string                  `json:"name"`
	From      int64                   `json:"from"`
	To        int64                   `json:"to"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
}

// Stretch is neighbouring positions, those that start in the rows [From, To). Reason is nil where
// all of them are windows; of joined stretches, the one that rejects most.
type Stretch struct {
	From      int64          `json:"from"`
	To        int64          `json:"to"`
	Positions int64          `json:"positions"`
	Windows   int64          `json:"windows"`
	Reason    *window.Reason `json:"reason"`
	Part      *int           `json:"part,omitempty"` // of the split
}
