package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// Plan describes exactly what a feed would serve. Its JSON is that of tensorcache plan --json.
type Plan struct {
	Dataset    string                  `json:"dataset"`
	Generation int64                   `json:"generation"`
	Digest     string                  `json:"digest"`
	Windows    int64                   `json:"windows"`
	Items      int64                   `json:"items"`
	Positions  int64                   `json:"positions"`
	Rejected   map[window.Reason]int64 `json:"rejected"`
	First      *Place                  `json:"first"` // nil if there is no window
	Last       *Place                  `json:"last"`
	// Path is how a context gets into a slot: memcpy or transpose.
	Path     string   `json:"path"`
	Features Features `json:"features"`
	DType    string   `json:"dtype"` // "" is as stored

	// These are zero for a plan without FeedOptions.
	Batches    int64      `json:"batches"`     // batches of an epoch, for the rank
	LastBatch  int64      `json:"last_batch"`  // windows of the last batch
	BatchBytes int64      `json:"batch_bytes"` // bytes of a slot
	Ranks      []RankPlan `json:"ranks"`
	Groups     *GroupPlan `json:"groups"` // nil unless the order is one of groups
}

// GroupPlan describes the groups of an epoch.
type GroupPlan struct {
	Groups         int64 `json:"groups"`          // groups that are visited
	Dropped        int64 `json:"dropped"`         // groups with fewer windows than MinItems
	DroppedWindows int64 `json:"dropped_windows"` // windows in them
	// Least, Median and Greatest are of the numbers of windows of the visited groups.
	Least    int64   `json:"least"`
	Median   float64 `json:"median"`
	Greatest int64   `json:"greatest"`
	Items    int64   `json:"items"` // items that have windows
	// Warning says why the median group has windows of fewer than half of the items, else it is "".
	Warning string `json:"warning"`
}

// Place is where a window starts.
type Place struct {
	Item  any   `json:"item"`  // the item's value, as of [Dataset.Item]
	Start int64 `json:"start"` // the first row, counted from the item's first row
	Time  any   `json:"time"`  // that row's time: RFC 3339 or an integer
}

// RankPlan is what one rank serves of an epoch.
type RankPlan struct {
	Rank    int64 `json:"rank"`
	Windows int64 `json:"windows"`
	Batches int64 `json:"batches"`
}

// Plan returns which windows exist and why others do not. With options it also describes an epoch
// of a feed. The error is of type InvalidSpec for an option that is not allowed.
func (w *Windows) Plan(ctx context.Context, options *FeedOptions) (*Plan, error) {
	var request wire.PlanRequest
	if options != nil {
		if err := options.check(w); err != nil {
			return nil, err
		}
		o := options.sampler()
		request.Options, request.ChannelsFirst, request.Mask = &o,
			options.ChannelsFirst, options.Mask
		request.Parts = options.partRequests()
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
