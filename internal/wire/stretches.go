package wire

import "github.com/tensorcache/tensorcache/window"

// StretchesRequest asks which positions of one item are windows, and why the others are not.
type StretchesRequest struct {
	SplitSelection
	ItemCode int64 `json:"item_code"`
}

// Stretches answers POST /v1/datasets/{name}/stretches. Windows, Positions and Rejected are the
// counts of the item under the spec and cuts. With a split, Stretches are those of its parts, in
// the order of the parts, and leave out positions that belong to no part.
type Stretches struct {
	ItemCode  int64                   `json:"item_code"`
	Item      any                     `json:"item"`
	Rows      int64                   `json:"rows"`
	Stride    int64                   `json:"stride"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
	Splits    []ItemSplit             `json:"splits,omitempty"`
	Stretches []Stretch               `json:"stretches"`
	// Merged reports whether neighbouring stretches were joined, because there were too many.
	Merged bool `json:"merged,omitempty"`
}

// ItemSplit is the part of an item that belongs to one part of a split. Its prediction rows are in
// the rows [From, To).
type ItemSplit struct {
	Name      string                  `json:"name"`
	From      int64                   `json:"from"`
	To        int64                   `json:"to"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
}

// Stretch is a range of neighbouring positions: those that start in the rows [From, To). Reason is
// nil if all of them are windows. In a joined stretch it is the reason that rejects the most
// positions.
type Stretch struct {
	From      int64          `json:"from"`
	To        int64          `json:"to"`
	Positions int64          `json:"positions"`
	Windows   int64          `json:"windows"`
	Reason    *window.Reason `json:"reason"`
	Part      *int           `json:"part,omitempty"` // index of the part of the split
}
