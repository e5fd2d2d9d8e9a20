package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// Plan says what would be served, exactly; its JSON is what tensorcache plan --json prints.
type Plan struct {
	Dataset    string                  `json:"dataset"`
	Generation int64                   `json:"generation"`
	Digest     string                  `json:"digest"`
	Windows    int64                   `json:"windows"`
	Items      int64                   `json:"items"`
	Positions  int64                   `json:"positions"`
	Rejected   map[window.Reason]int64 `json:"rejected"`
	First      *Place                  `json:"first"` // nil where there is no window
	Last       *Place                  `json:"last"`
	// how a context gets into a slot: memcpy or transpose; view where it need not
	Path     string   `json:"path"`
	Features Features `json:"features"`
	DType    string   `json:"dtype"` // "" is as stored

	// What follows is there for a plan with FeedOptions.
	Batches    int64      `json:"batches"`
	LastBatch  int64      `json:"last_batch"`
	BatchBytes int64      `json:"batch_bytes"`
	Ranks      []RankPlan `json:"ranks"`
}

// Place is where a window is: its item's value, its first row in the item, and that row's time (RFC
// 3339, or an integer).
type Place struct {
	Item  any   `json:"item"`
	Start int64 `json:"start"`
	Time  any   `json:"time"`
}

// RankPlan is a rank's share of an epoch.
type RankPlan struct {
	Rank    int64 `json:"rank"`
	Windows int64 `json:"windows"`
	Batches int64 `json:"batches"`
}

// Plan says which windows exist and why others do not, and with options also what an epoch of a
// feed would be; of the options nil leaves that out.
func (w *Windows) Plan(ctx context.Context, options *FeedOptions) (*Plan, error) {
	var request wire.PlanRequest
	if options != nil {
		if err := w.checkWeights(options.Weights); err != nil {
			return nil, err
		}
		o := options.sampler()
		request.Options, request.ChannelsFirst, request.Mask = &o,
			options.ChannelsFirst, options.Mask
	}
	var err error
	if request.Selection, err = w.selection(); err != nil {
		return nil, err
	}
	var p Plan
	if err := w.post(ctx, "/plan", request, &p); err != nil {
		return nil, err
	}
	return &p, nil
}
