package feed

import (
	"encoding/json"
	"math"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// place is the place of a window: its item and first context row.
type place struct{ item, start int64 }

// row returns the row of sample i of a window.
func (f *drawnFeed) row(at place, i int64) int64 { return at.start + i*f.dilation }

// windows returns the windows that exist, by checking every position.
func (f *drawnFeed) windows(data *drawnDataset) (out []place) {
	for item, n := range data.rows {
		for s := -n - f.c*f.dilation*f.stride; s < n; s++ {
			if s%f.stride == 0 && f.exists(data, place{int64(item), s}) {
				out = append(out, place{int64(item), s})
			}
		}
	}
	return out
}

func (f *drawnFeed) exists(data *drawnDataset, at place) bool {
	if f.row(at, f.c+f.gap+f.p-1) >= data.rows[at.item] {
		return false
	}
	if f.row(at, 0) < -(f.c-f.least)*f.dilation || f.row(at, f.c) < 0 || f.p == 0 &&
		f.row(at, f.c-1) < 0 {
		return false
	}
	return f.hasFewMissing(data, at) && f.inPart(at)
}

// hasFewMissing reports whether the share of missing cells in context and target is allowed.
func (f *drawnFeed) hasFewMissing(data *drawnDataset, at place) bool {
	type cell struct {
		row    int64
		column string
	}
	asked := map[cell]bool{}
	look := func(from, to int64, columns []string) {
		for i := from; i < to; i++ {
			for _, c := range columns {
				if r := f.row(at, i); r >= 0 {
					asked[cell{r, c}] = true
				}
			}
		}
	}
	look(0, f.c, f.context)
	look(f.c+f.gap-f.overlap, f.c+f.gap+f.p, f.target)
	missing, cells := 0, 0
	for k := range asked {
		for _, v := range data.values[k.column][data.offset(at.item)+k.row] {
			cells++
			if math.IsNaN(v) {
				missing++
			}
		}
	}
	return f.anyMissing || missing == 0 || float64(missing)/float64(cells) <= f.share
}

// inPart reports whether all prediction rows are inside the cuts; without any, the last context
// row.
func (f *drawnFeed) inPart(at place) bool {
	first, last := f.row(at, f.c+f.gap), f.row(at, f.c+f.gap+f.p-1)
	if f.p == 0 {
		first = last
	}
	if f.rows != nil && (first < f.rows[0] || last >= f.rows[1]) {
		return false
	}
	if f.items == nil {
		return true
	}
	for _, item := range f.items {
		if item == at.item {
			return true
		}
	}
	return false
}

// request returns the request of the feed.
func (f *drawnFeed) request(dataset string, data *drawnDataset) map[string]any {
	r := request(dataset, with("spec", f.spec), with("options", f.options),
		with("channels_first", f.first), with("mask", f.mask), with("slots", f.slots),
		with("delivery", f.delivery), with("queue", f.queue))
	cuts := []any{}
	if f.rows != nil {
		cuts = append(cuts, map[string]any{"where": map[string]any{"rows": f.rows}})
	}
	if f.items != nil {
		names := []string{}
		for _, i := range f.items {
			names = append(names, data.names[i])
		}
		cuts = append(cuts, map[string]any{"where": map[string]any{"items": names}})
	}
	r["cuts"] = cuts
	if f.asked != nil {
		r["parts"] = f.requested()
	}
	return r
}

// block returns the values of a part of one window, in the order of the request.
func (f *drawnFeed) block(data *drawnDataset, at place, columns []string, from, to int64,
	cell func(v float64, real bool) float64) (out []float64) {
	var samples [][]float64
	for i := from; i < to; i++ {
		var features []float64
		for _, name := range columns {
			row := f.row(at, i)
			for j := range max(data.column(name).Width, 1) {
				if row < 0 {
					features = append(features, cell(0, false))
				} else {
					features = append(features,
						cell(data.values[name][data.offset(at.item)+row][j], true))
				}
			}
		}
		samples = append(samples, features)
	}
	if !f.first || len(samples) == 0 {
		for _, s := range samples {
			out = append(out, s...)
		}
		return out
	}
	for j := range samples[0] {
		for i := range samples {
			out = append(out, samples[i][j])
		}
	}
	return out
}

func (f *drawnFeed) value(v float64, real bool) float64 {
	if !real {
		return f.pad
	}
	if math.IsNaN(v) && f.replace != nil {
		return *f.replace
	}
	return v
}

func isMissing(v float64, _ bool) float64 { return flag01(math.IsNaN(v)) }

func flag01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// parts returns the values of one window, for each part that batches must have.
func (f *drawnFeed) parts(data *drawnDataset, at place) map[string][]float64 {
	if f.asked != nil {
		return f.askedParts(data, at)
	}
	target, end := f.c+f.gap-f.overlap, f.c+f.gap+f.p
	out := map[string][]float64{
		"context": f.block(data, at, f.context, 0, f.c, f.value),
		"item":    {float64(at.item)}, "start": {float64(at.start)},
	}
	if f.hasPlacesOnly() {
		out = map[string][]float64{"item": out["item"], "start": out["start"],
			"row": {float64(data.offset(at.item) + at.start)}}
		if f.delivery != batch.View && (f.mask || f.least < f.c) {
			out["mask"] = f.realRows(at)
		}
		return out
	}
	masked := f.mask || f.share > 0 || f.anyMissing
	if masked {
		out["context_missing"] = f.block(data, at, f.context, 0, f.c, isMissing)
	}
	if f.p > 0 {
		out["target"] = f.block(data, at, f.target, target, end, f.value)
		if masked {
			out["target_missing"] = f.block(data, at, f.target, target, end, isMissing)
		}
	}
	if f.known != nil {
		out["known"] = f.block(data, at, f.known, 0, end, f.value)
	}
	if f.static != nil {
		out["static"] = []float64{float64(at.item % 2)}
	}
	if f.mask || f.least < f.c {
		out["mask"] = f.realRows(at)
	}
	return out
}

// realRows returns 1 for each context row that is not padding, else 0.
func (f *drawnFeed) realRows(at place) (out []float64) {
	for i := range f.c {
		out = append(out, flag01(f.row(at, i) >= 0))
	}
	return out
}

// read returns the values of a part of one window of a batch as float64.
func (t *trainer) read(slot uint32, p wire.Part, window int64) (out []float64) {
	n := int64(1)
	for _, s := range p.Shape[1:] {
		n *= s
	}
	b := t.slot(slot)[p.Offset+window*n*p.DType.Size():][:n*p.DType.Size()]
	switch p.DType {
	case layout.Float16:
		for _, v := range unsafeSlice[layout.Half](b) {
			out = append(out, float64(v.Float32()))
		}
		return out
	case layout.Float32:
		return floats[float32](b)
	case layout.Float64:
		return floats[float64](b)
	case layout.Int8:
		return floats[int8](b)
	case layout.Int16:
		return floats[int16](b)
	case layout.Int32:
		return floats[int32](b)
	case layout.Int64:
		return floats[int64](b)
	case layout.Uint16:
		return floats[uint16](b)
	case layout.Uint32:
		return floats[uint32](b)
	case layout.Uint64:
		return floats[uint64](b)
	}
	return floats[uint8](b)
}

func floats[T layout.Number](b []byte) (out []float64) {
	for _, v := range unsafeSlice[T](b) {
		out = append(out, float64(v))
	}
	return out
}

func sameValues(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
