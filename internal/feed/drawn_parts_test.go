package feed

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// drawnPart is a part that a request names.
type drawnPart struct {
	wire.PartRequest
	columns  []string
	from, to int64 // samples
}

// drawParts draws the parts of the request, or leaves them to the spec.
func (f *drawnFeed) drawParts(t *rapid.T, data *drawnDataset) {
	if rapid.Bool().Draw(t, "all parts") {
		return
	}
	target, end := f.c+f.gap-f.overlap, f.c+f.gap+f.p
	all := []drawnPart{{wire.PartRequest{Part: plan.Context}, f.context, 0, f.c}}
	if f.p > 0 {
		all = append(all, drawnPart{wire.PartRequest{Part: plan.Target}, f.target, target, end})
	}
	if f.known != nil {
		all = append(all, drawnPart{wire.PartRequest{Part: plan.Known}, f.known, 0, end},
			drawnPart{wire.PartRequest{Part: plan.KnownContext}, f.known, 0, f.c})
		if f.p > 0 {
			all = append(all, drawnPart{wire.PartRequest{Part: plan.KnownTarget}, f.known, target, end})
		}
	}
	if f.static != nil {
		all = append(all, drawnPart{wire.PartRequest{Part: plan.Static}, f.static, 0, 1})
	}
	for name, mask := range map[string]drawnPart{
		"observed": all[0], "context_missing": all[0], "target_observed": all[1%len(all)],
		"target_missing": all[1%len(all)],
	} {
		if mask.Part != plan.Target && strings.HasPrefix(name, plan.Target) {
			continue // there is none
		}
		mask.Part = name
		all = append(all, mask)
	}
	slices.SortFunc(all, func(a, b drawnPart) int { return strings.Compare(a.Part, b.Part) })
	f.asked, f.mask = []drawnPart{}, false
	for i := range rapid.IntRange(0, 5).Draw(t, "parts") {
		p := rapid.SampledFrom(all).Draw(t, "part")
		p.Name = fmt.Sprintf("part %d%s", i/2, rapid.SampledFrom([]string{"", "_missing"}).Draw(t, "name"))
		if slices.ContainsFunc(f.asked, func(o drawnPart) bool { return o.Name == p.Name }) {
			continue
		}
		if rapid.Bool().Draw(t, "some columns") {
			p.columns = rapid.Permutation(p.columns).Draw(t, "columns of the part")
			p.columns = p.columns[:rapid.IntRange(1, len(p.columns)).Draw(t, "number of columns")]
			p.Columns = p.columns
		}
		if isValueMask(p.Part) {
			f.asked = append(f.asked, p)
			continue
		}
		fit := []string{"", "float32", "float64"}
		for _, d := range []layout.DType{layout.Int32, layout.Int64} {
			isOther := func(name string) bool { return !d.Holds(data.column(name).DType.Plain()) }
			if !slices.ContainsFunc(p.columns, isOther) && f.pad == math.Trunc(f.pad) {
				fit = append(fit, string(d))
			}
		}
		p.DType = rapid.SampledFrom(fit).Draw(t, "dtype of the part")
		f.asked = append(f.asked, p)
	}
	if rapid.Bool().Draw(t, "mask of padding") {
		at := rapid.IntRange(0, len(f.asked)).Draw(t, "place of the mask")
		f.asked = slices.Insert(f.asked, at,
			drawnPart{PartRequest: wire.PartRequest{Name: plan.Mask, Part: plan.Mask}})
	}
}

// isValueMask reports whether a part reports something about each value of another part.
func isValueMask(part string) bool {
	return strings.HasSuffix(part, "observed") || strings.HasSuffix(part, "_missing")
}

// requested returns the parts as the request has them; nil without any.
func (f *drawnFeed) requested() (out []wire.PartRequest) {
	for _, p := range f.asked {
		out = append(out, p.PartRequest)
	}
	if f.asked != nil && out == nil {
		out = []wire.PartRequest{}
	}
	return out
}

// askedParts returns the values of one window, for each part that the request names.
func (f *drawnFeed) askedParts(data *drawnDataset, at place) map[string][]float64 {
	out := map[string][]float64{"item": {float64(at.item)}, "start": {float64(at.start)}}
	if f.hasPlacesOnly() {
		out["row"] = []float64{float64(data.offset(at.item) + at.start)}
	}
	for _, p := range f.asked {
		switch {
		case p.Part == plan.Mask && f.delivery != batch.View:
			out[plan.Mask] = f.realRows(at)
		case p.Part == plan.Mask || f.hasPlacesOnly():
		case p.Part == plan.Static:
			for range p.columns {
				out[p.Name] = append(out[p.Name], float64(at.item%2))
			}
		case isValueMask(p.Part):
			masks := data.masks(strings.HasSuffix(p.Part, "observed"))
			out[p.Name] = f.block(masks, at, p.columns, p.from, p.to, inMask)
		default:
			out[p.Name] = f.block(data, at, p.columns, p.from, p.to, f.value)
		}
	}
	return out
}

// checkAsked compares the order and the dtypes of the parts with the request.
func (c *checker) checkAsked() {
	c.Helper()
	var names []string
	for _, p := range c.drawn.asked {
		if c.drawn.hasPlacesOnly() || p.Part == plan.Mask {
			continue
		}
		names = append(names, p.Name)
		want := p.DType
		switch {
		case strings.HasSuffix(p.Part, "observed"):
			want = "float32"
		case isValueMask(p.Part):
			want = "bool"
		}
		if dtype := c.part(p.Name).DType; want != "" && string(dtype) != want {
			c.Fatalf("%+v has the dtype %s", p, dtype)
		}
	}
	for i, name := range names {
		if c.Parts[i].Name != name {
			c.Fatalf("the parts are %+v, want %v first", c.Parts, names)
		}
	}
}
