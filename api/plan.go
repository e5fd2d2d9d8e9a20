package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

var planRoutes = []route{
	{"POST", "/v1/datasets/{name}/plan", oneArg((*Server).plan)},
	{"POST", "/v1/datasets/{name}/runs", oneArg((*Server).runs)},
}

// maxRanks is the number of ranks that a plan lists.
const maxRanks = 4096

// openWindows returns the windows of a request. The caller must release the handle.
func (s *Server) openWindows(name string, r wire.Selection) (*store.Handle, *plan.Windows, error) {
	h, err := plan.Acquire(s.Store, name, r.Generation, r.Digest)
	if err != nil {
		return nil, nil, err
	}
	w, err := plan.New(h, r.Spec, r.Cuts)
	if err != nil {
		h.Release()
		return nil, nil, err
	}
	return h, w, nil
}

// openParts is openWindows for a request that may have a split. It checks the split even if nothing
// will be split.
func (s *Server) openParts(name string, r wire.SplitSelection) (*store.Handle, *plan.Windows, error) {
	h, w, err := s.openWindows(name, r.Selection)
	if err != nil || !hasSplit(r) {
		return h, w, err
	}
	if _, err := w.ParseSplit(r.Split); err != nil {
		h.Release()
		return nil, nil, err
	}
	return h, w, nil
}

// hasSplit reports whether a request has a split.
func hasSplit(r wire.SplitSelection) bool { return len(r.Split) > 0 && string(r.Split) != "null" }

// plan counts the windows that exist and the positions that are rejected, by reason. It refuses a
// spec without windows, and a split with a part that has no window of any item. With cuts, there
// may be no windows.
func (s *Server) plan(ctx *fasthttp.RequestCtx, name string) error {
	var r wire.PlanRequest
	if err := readBody(ctx, &r); err != nil {
		return err
	}
	if r.Options != nil {
		if err := r.Options.Validate(); err != nil {
			return err
		}
	}
	h, w, err := s.openParts(name, r.SplitSelection)
	if err != nil {
		return err
	}
	defer h.Release()
	if len(r.Cuts) == 0 {
		if err := w.Index.Explain(); err != nil {
			return err
		}
	}
	features, dtype := w.Features(), w.ContextDType() // of the spec, not of the parts
	if w, err = w.Select(r.Parts, r.Mask); err != nil {
		return err
	}
	warnings, err := w.Warnings()
	if err != nil {
		return err
	}
	p := wire.PlanReply{
		Dataset: h.Dataset, Generation: h.Generation, Digest: h.Data.Manifest.Digest,
		Windows: w.Index.Len(), Items: w.Index.Items(),
		Positions: w.Index.Positions(), Rejected: w.Index.Rejected(), Features: features,
		DType: string(dtype), Time: w.Index.Spec().Time, Warnings: warnings,
		ComputesKnown: w.KnownAfter() != nil,
	}
	if n := w.Index.Len(); n > 0 {
		if p.First, err = windowPlace(h.Data, w, 0); err != nil {
			return err
		}
		if p.Last, err = windowPlace(h.Data, w, n-1); err != nil {
			return err
		}
	}
	if p.Path, _, err = batch.SlotPath(w, batch.Shape{Windows: 1, ChannelsFirst: r.ChannelsFirst,
		Mask: r.Mask}); err != nil {
		return err
	}
	if hasSplit(r.SplitSelection) {
		if p.Splits, err = planSplits(w, r); err != nil {
			return err
		}
		split, err := w.ParseSplit(r.Split)
		if err != nil {
			return err
		}
		p.Warnings = append(p.Warnings, w.SplitWarnings(&split)...)
	}
	if r.PerItem != nil {
		if p.PerItem, err = planItems(h.Data, w.Index, *r.PerItem); err != nil {
			return err
		}
	}
	if r.Options != nil && p.Windows > 0 {
		if p.BatchPlan, err = batchPlan(w, r); err != nil {
			return err
		}
	}
	return reply(ctx, 200, p)
}

// runs sends the runs of the index, each as item, first start and count (i64).
func (s *Server) runs(ctx *fasthttp.RequestCtx, name string) error {
	var r wire.Selection
	if err := readBody(ctx, &r); err != nil {
		return err
	}
	h, w, err := s.openWindows(name, r)
	if err != nil {
		return err
	}
	defer h.Release()
	runs := w.Index.Runs()
	ctx.SetContentType("application/octet-stream")
	ctx.SetBodyStream(&runsReader{runs: runs}, len(runs)*runBytes)
	return nil
}

// planSplits plans each part of a split.
func planSplits(w *plan.Windows, r wire.PlanRequest) ([]wire.SplitPlan, error) {
	split, err := w.ParseSplit(r.Split)
	if err != nil {
		return nil, err
	}
	// the cut of each part repeats the split
	if n, err := split.Parts(); err == nil && n*len(r.Split) > maxBodyBytes {
		return nil, wire.NewProblem(wire.TooLarge,
			"split: the cuts of its %d parts are over %d bytes", n, maxBodyBytes).WithField(
			"split").WithHint("split into fewer parts, or name fewer items")
	}
	parts, err := w.Index.Split(split)
	if err != nil {
		return nil, err
	}
	out := make([]wire.SplitPlan, len(parts))
	for i, x := range parts {
		name := partName(split.Names, i, len(parts))
		if x.Len() == 0 {
			return nil, emptyPartError(r.Split, split.Field(), name, x)
		}
		out[i] = wire.SplitPlan{
			Name: name, Windows: x.Len(), Positions: x.Positions(), Rejected: x.Rejected(),
			Cut: map[string]any{"split": r.Split, "part": i},
		}
	}
	return out, nil
}

// maxQuoted is how many bytes of a request's value a message quotes.
const maxQuoted = 60

// emptyPartError says that a part has no window of any item, and why its positions were rejected.
func emptyPartError(split json.RawMessage, field, name string, x *window.Index) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(split, &given); err != nil {
		return err
	}
	value := shorten(string(given[field]))
	why := strings.TrimPrefix(x.Explain().Error(), window.ErrNoWindows.Error()+": ")
	return wire.NewProblem(wire.NoWindows, "%s: got %s, but part %q has no window: %s", field,
		value, name, why).WithField(field)
}

// maxPlanItems is for how many items one plan counts windows.
const maxPlanItems = 100_000

// planItems counts the windows of each item in a half-open range.
func planItems(d *layout.Data, x *window.Index, items [2]int64) ([]wire.ItemPlan, error) {
	from, to := items[0], min(items[1], x.Items())
	if from < 0 || to < from || to-from > maxPlanItems {
		return nil, wire.NewProblem(wire.InvalidRequest,
			"per_item: got %v, want a range of at most %d items from 0", items,
			maxPlanItems).WithField("per_item")
	}
	out := make([]wire.ItemPlan, 0, to-from)
	for code := from; code < to; code++ {
		value, err := plan.ItemValue(d, code)
		if err != nil {
			return nil, err
		}
		_, count := x.OfItem(code)
		out = append(out, wire.ItemPlan{Item: value, Windows: count})
	}
	return out, nil
}

// partName returns the given name of a part; else train, val, test for two or three parts, as
// papers do; else a number.
func partName(names []string, i, n int) string {
	switch {
	case names != nil:
		return names[i]
	case n == 2:
		return []string{"train", "test"}[i]
	case n == 3:
		return []string{"train", "val", "test"}[i]
	}
	return fmt.Sprintf("part%d", i)
}

// windowPlace returns the item, start and time of a window.
func windowPlace(d *layout.Data, w *plan.Windows, n int64) (*wire.WindowPlace, error) {
	at := w.Index.Place(n)
	item, err := plan.ItemValue(d, at.Item)
	if err != nil {
		return nil, err
	}
	p := &wire.WindowPlace{Item: item, Start: at.Start}
	m := d.Manifest
	if m.Time == "" {
		return p, nil
	}
	c, err := m.Column(m.Time)
	if err != nil {
		return nil, err
	}
	times, err := layout.View[int64](d, c)
	if err != nil {
		return nil, err
	}
	p.Time = timeValue(times.Data[w.Offsets[at.Item]+max(at.Start, w.Index.FirstRow(at.Item))], c)
	return p, nil
}

// timeValue returns a time as in JSON: RFC 3339, or an integer for an integer time column.
func timeValue(v int64, c *layout.ManifestColumn) any {
	var t time.Time
	switch c.Unit {
	case "s":
		t = time.Unix(v, 0)
	case "ms":
		t = time.UnixMilli(v)
	case "us":
		t = time.UnixMicro(v)
	case "ns":
		t = time.Unix(0, v)
	default:
		return v
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// batchPlan returns the batches of an epoch, for each rank.
func batchPlan(w *plan.Windows, r wire.PlanRequest) (*wire.BatchPlan, error) {
	first, err := w.Sampler(*r.Options)
	if err != nil {
		return nil, err
	}
	_, bytes, err := batch.SlotPath(w, batch.ShapeOf(first, r.ChannelsFirst, r.Mask))
	if err != nil {
		return nil, err
	}
	plan := &wire.BatchPlan{Batches: first.Steps(0, 0), LastBatch: first.LastBatch(0),
		BatchBytes: bytes, Ranks: []wire.RankPlan{}}
	for rank, share := range first.Ranks(0, maxRanks) {
		plan.Ranks = append(plan.Ranks, wire.RankPlan{Rank: int64(rank), Batches: share.Batches,
			Windows: share.Windows})
	}
	plan.Groups = groupPlan(w.Index, first)
	return plan, nil
}

// groupPlan returns the groups of an order of groups, else nil.
func groupPlan(x *window.Index, s *sampler.Sampler) *wire.GroupPlan {
	counts, ok := s.Groups()
	if !ok {
		return nil
	}
	p := &wire.GroupPlan{Groups: counts.Groups, Dropped: counts.Dropped,
		DroppedWindows: counts.DroppedWindows, Least: counts.Least, Median: counts.Median,
		Greatest: counts.Greatest}
	last := int64(-1)
	for i := range x.RunCount() {
		if item, _, _ := x.RunAt(i); item != last {
			p.Items, last = p.Items+1, item
		}
	}
	if p.Median < float64(p.Items)/2 {
		p.Warning = smallGroups(p, x.Spec())
	}
	return p
}

// smallGroups says why the median group has windows of fewer than half of the items.
func smallGroups(p *wire.GroupPlan, s window.Spec) string {
	text := fmt.Sprintf("the median size of a group is %v, and %d items have windows: ", p.Median,
		p.Items)
	if s.Stride <= 1 {
		return text + "few items have rows at the same times"
	}
	from, differ, bounds := "first", "begin", "(FROM, None)"
	if s.Anchor == window.AnchorEnd {
		from, differ, bounds = "last", "end", "(None, TO)"
	}
	return text + fmt.Sprintf("strides have a phase per item, counted from its %s row, so items "+
		"that %s at different times have windows at different times; use stride=1, or let all "+
		"items %s at one time with time=%s, instead of stride=%d", from, differ, differ, bounds,
		s.Stride)
}
