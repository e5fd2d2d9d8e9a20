package api

import (
	"slices"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// maxWindows limits the windows of a response.
const maxWindows = 64

// showWindows sends the values of a few windows, as a feed delivers them.
func (s *Server) showWindows(ctx *fasthttp.RequestCtx, name string) error {
	var r wire.WindowsRequest
	if err := readBody(ctx, &r); err != nil {
		return err
	}
	h, w, err := s.openParts(name, r.SplitSelection)
	if err != nil {
		return err
	}
	defer h.Release()
	numbers, err := windowNumbers(w.Index, r)
	if err != nil {
		return err
	}
	out := wire.Windows{Windows: []wire.WindowContent{}, Features: w.Features()}
	if len(numbers) == 0 {
		return reply(ctx, 200, out)
	}
	content, err := batch.NewContent(w, numbers)
	if err != nil {
		return err
	}
	parts := map[int64]*splitParts{}
	for i, n := range numbers {
		at := w.Index.Place(n)
		where, err := windowPlace(h.Data, w, n)
		if err != nil {
			return err
		}
		c := wire.WindowContent{
			Number: n, ItemCode: at.Item, Item: where.Item, Start: at.Start, Time: where.Time,
			Context: content.Rows("context", i), Target: content.Rows("target", i),
			Known: content.Rows("known", i), Static: content.Static(i), Mask: content.Mask(i),
		}
		if parts[at.Item] == nil {
			p := &splitParts{}
			if p.parts, p.names, err = partsOf(w, r.SplitSelection, at.Item); err != nil {
				return err
			}
			parts[at.Item] = p
		}
		c.Part = parts[at.Item].partWith(at)
		out.Windows = append(out.Windows, c)
	}
	return reply(ctx, 200, out)
}

// splitParts are the parts of a split, for one item.
type splitParts struct {
	parts []*window.Index
	names []string
}

// partWith returns the name of the part that has a window, or nil.
func (p *splitParts) partWith(at window.Place) *string {
	i := slices.IndexFunc(p.parts, func(x *window.Index) bool { _, ok := x.Number(at); return ok })
	if i < 0 {
		return nil
	}
	return &p.names[i]
}

// windowNumbers returns the numbers of the windows that a request asks for.
func windowNumbers(x *window.Index, r wire.WindowsRequest) ([]int64, error) {
	byRow := r.Row != nil
	if byRow == (r.Numbers != nil) {
		got := "neither numbers nor row"
		if byRow {
			got = "both numbers and row"
		}
		return nil, wire.NewProblem(wire.InvalidRequest, "numbers: got %s, want one of them",
			got).WithField("numbers")
	}
	if byRow {
		code := int64(0)
		if r.ItemCode != nil {
			code = *r.ItemCode
		}
		if err := checkCode(code, x.Items()); err != nil {
			return nil, err
		}
		n, ok := x.Holding(code, *r.Row)
		if !ok {
			return nil, nil
		}
		return []int64{n}, nil
	}
	if r.ItemCode != nil {
		return nil, wire.NewProblem(wire.InvalidRequest,
			"item_code: got it with numbers, want it with row").WithField("item_code")
	}
	if len(r.Numbers) > maxWindows {
		return nil, wire.NewProblem(wire.InvalidRequest, "numbers: got %d of them, want at most %d",
			len(r.Numbers), maxWindows).WithField("numbers")
	}
	for _, n := range r.Numbers {
		if n >= 0 && n < x.Len() {
			continue
		}
		if err := x.Explain(); err != nil {
			return nil, err
		}
		return nil, wire.NewProblem(wire.InvalidRequest,
			"numbers: got %d, want numbers from 0 to %d", n, x.Len()-1).WithField("numbers")
	}
	return r.Numbers, nil
}
