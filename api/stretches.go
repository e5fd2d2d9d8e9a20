package api

import (
	"iter"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// maxStretches limits the stretches of a response.
const maxStretches = 10_000

// stretches sends which positions of an item are windows, and why others are not.
func (s *Server) stretches(ctx *fasthttp.RequestCtx, name string) error {
	var r wire.StretchesRequest
	if err := readBody(ctx, &r); err != nil {
		return err
	}
	h, w, err := s.openParts(name, r.SplitSelection)
	if err != nil {
		return err
	}
	defer h.Release()
	if err := checkCode(r.ItemCode, w.Index.Items()); err != nil {
		return err
	}
	spec := w.Index.Spec()
	out := wire.Stretches{ItemCode: r.ItemCode, Rows: w.Offsets[r.ItemCode+1] - w.Offsets[r.ItemCode],
		Stride: max(spec.Stride, 1)}
	if out.Item, err = plan.ItemValue(h.Data, r.ItemCode); err != nil {
		return err
	}
	out.Windows, out.Positions, out.Rejected = countPositions(w.Index, r.ItemCode)
	parts, names, err := partsOf(w, r.SplitSelection, r.ItemCode)
	if err != nil {
		return err
	}
	for i, x := range parts {
		p := wire.ItemSplit{Name: names[i]}
		p.From, p.To = x.Range(r.ItemCode)
		p.Windows, p.Positions, p.Rejected = countPositions(x, r.ItemCode)
		out.Splits = append(out.Splits, p)
	}
	allStretches := func(yield func(wire.Stretch) bool) {
		yieldStretches(w.Index, nil, r.ItemCode, out.Stride, yield)
	}
	if parts != nil {
		allStretches = func(yield func(wire.Stretch) bool) {
			for i, x := range parts {
				if !yieldStretches(x, &i, r.ItemCode, out.Stride, yield) {
					return
				}
			}
		}
	}
	out.Stretches, out.Merged = limitStretches(maxStretches, allStretches)
	return reply(ctx, 200, out)
}

// countPositions counts the positions of an item.
func countPositions(x *window.Index, code int64) (windows, positions int64,
	rejected map[window.Reason]int64) {
	rejected = map[window.Reason]int64{}
	for s := range x.Stretches(code) {
		if positions += s.Count; s.Reason == "" {
			windows += s.Count
		} else {
			rejected[s.Reason] += s.Count
		}
	}
	return windows, positions, rejected
}

// partsOf returns the parts of a request's split for one item, or nil without a split.
func partsOf(w *plan.Windows, r wire.SplitSelection, code int64) ([]*window.Index, []string, error) {
	if !hasSplit(r) {
		return nil, nil, nil
	}
	split, err := w.ParseSplit(r.Split)
	if err != nil {
		return nil, nil, err
	}
	item, err := w.Index.Where(window.Where{Items: []int64{code}})
	if err != nil {
		return nil, nil, err
	}
	parts, err := item.Split(split)
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = partName(split.Names, i, len(parts))
	}
	return parts, names, nil
}

// yieldStretches yields the stretches of an item. It returns false when yield does.
func yieldStretches(x *window.Index, part *int, code, stride int64,
	yield func(wire.Stretch) bool) bool {
	for s := range x.Stretches(code) {
		out := wire.Stretch{From: s.First, To: s.First + (s.Count-1)*stride + 1,
			Positions: s.Count, Part: part}
		if s.Reason == "" {
			out.Windows = s.Count
		} else {
			out.Reason = &s.Reason
		}
		if !yield(out) {
			return false
		}
	}
	return true
}

// limitStretches collects stretches. If there are more than n, it divides the rows into n/2 equal
// intervals and merges the stretches inside each.
func limitStretches(n int, stretches iter.Seq[wire.Stretch]) (out []wire.Stretch, merged bool) {
	out = []wire.Stretch{}
	first, end, count := int64(0), int64(0), 0
	for s := range stretches {
		if count++; count == 1 {
			first = s.From
		}
		if end = s.To; count <= n {
			out = append(out, s)
		}
	}
	if count <= n {
		return out, false
	}
	out = out[:0]
	width := (end-first)/int64(n/2) + 1
	rejects := map[window.Reason]int64{}
	for s := range stretches {
		at := (s.From - first) / width
		inOne := (s.To-1-first)/width == at
		last := len(out) - 1
		if last < 0 || !inOne || (out[last].From-first)/width != at ||
			(out[last].To-1-first)/width != at || !samePart(out[last].Part, s.Part) {
			out = append(out, s)
			clear(rejects)
			addRejected(rejects, &s)
			continue
		}
		addRejected(rejects, &s)
		o := &out[last]
		o.To, o.Positions, o.Windows, o.Reason = s.To, o.Positions+s.Positions, o.Windows+s.Windows,
			mainReason(rejects)
	}
	return out, true
}

func samePart(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

func addRejected(rejects map[window.Reason]int64, s *wire.Stretch) {
	if s.Reason != nil {
		rejects[*s.Reason] += s.Positions
	}
}

// mainReason returns the reason that rejects most positions, the first if several do; nil if none
// does.
func mainReason(rejects map[window.Reason]int64) (reason *window.Reason) {
	for i := range window.Reasons {
		if why := &window.Reasons[i]; rejects[*why] > 0 &&
			(reason == nil || rejects[*why] > rejects[*reason]) {
			reason = why
		}
	}
	return reason
}
