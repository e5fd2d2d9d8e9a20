package feed

import (
	"encoding/json"
	"math"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// place is a window: its item and first context row.
type place struct{ item, start int64 }

// row of sample i.
func (w *wish) row(at place, i int64) int64 { return at.start + i*w.dilation }

// windows lists those that exist, by looking at every position.
func (w *wish) windows(m *made) (out []place) {
	for item, n := range m.rows {
		for s := -n - w.c*w.dilation*w.stride; s < n; s++ {
			if s%w.stride == 0 && w.exists(m, place{int64(item), s}) {
				out = append(out, place{int64(item), s})
			}
		}
	}
	return out
}

func (w *wish) exists(m *made, at place) bool {
	if w.row(at, w.c+w.gap+w.p-1) >= m.rows[at.item] {
		return false
	}
	if w.row(at, 0) < -(w.c-w.least)*w.dilation || w.row(at, w.c) < 0 || w.p == 0 &&
		w.row(at, w.c-1) < 0 {
		return false
	}
	return w.enough(m, at) && w.inPart(at)
}

// enough tells whether the share of missing cells in context and target together is admitted.
func (w *wish) enough(m *made, at place) bool {
	type cell struct {
		row    int64
		column string
	}
	asked := map[cell]bool{}
	look := func(from, to int64, columns []string) {
		for i := from; i < to; i++ {
			for _, c := range columns {
				if r := w.row(at, i); r >= 0 {
					asked[cell{r, c}] = true
				}
			}
		}
	}
	look(0, w.c, w.context)
	look(w.c+w.gap-w.overlap, w.c+w.gap+w.p, w.target)
	missing, cells := 0, 0
	for k := range asked {
		for _, v := range m.values[k.column][m.offset(at.item)+k.row] {
			cells++
			if math.IsNaN(v) {
				missing++
			}
		}
	}
	return w.anyMissing || missing == 0 || float64(missing)/float64(cells) <= w.share
}

// inPart tells whether all prediction rows, or else the last context row, lie in the cuts.
func (w *wish) inPart(at place) bool {
	first, last := w.row(at, w.c+w.gap), w.row(at, w.c+w.gap+w.p-1)
	if w.p == 0 {
		first = last
	}
	if w.rows != nil && (first < w.rows[0] || last >= w.rows[1]) {
		return false
	}
	if w.items == nil {
		return true
	}
	for _, item := range w.items {
		if item == at.item {
			return true
		}
	}
	return false
}

// request is the wish as a client writes it.
func (w *wish) request(dataset string, m *made) map[string]any {
	r := request(dataset, with("spec", w.spec), with("options", w.options),
		with("channels_first", w.first), with("mask", w.mask), with("slots", w.slots),
		with("delivery", w.delivery), with("queue", w.queue))
	cuts := []any{}
	if w.rows != nil {
		cuts = append(cuts, map[string]any{"where": map[string]any{"rows": w.rows}})
	}
	if w.items != nil {
		names := []string{}
		for _, i := range w.items {
			names = append(names, m.names[i])
		}
		cuts = append(cuts, map[string]any{"where": map[string]any{"items": names}})
	}
	r["cuts"] = cuts
	return r
}

// block is what a part of one window holds, feature by feature, in the order asked for.
func (w *wish) block(m *made, at place, columns []string, from, to int64,
	cell func(v float64, real bool) float64) (out []float64) {
	var samples [][]float64
	for i := from; i < to; i++ {
		var features []float64
		for _, name := range columns {
			row := w.row(at, i)
			for j := range max(m.column(name).Width, 1) {
				if row < 0 {
					features = append(features, cell(0, false))
				} else {
					features = append(features,
						cell(m.values[name][m.offset(at.item)+row][j], true))
				}
			}
		}
		samples = append(samples, features)
	}
	if !w.first || len(samples) == 0 {
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

func (w *wish) value(v float64, _ bool) float64 {
	if math.IsNaN(v) && w.replace != nil {
		return *w.replace
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

// parts are those that a batch of the wish must have, with one window's values.
func (w *wish) parts(m *made, at place) map[string][]float64 {
	target, end := w.c+w.gap-w.overlap, w.c+w.gap+w.p
	out := map[string][]float64{
		"context": w.block(m, at, w.context, 0, w.c, w.value),
		"item":    {float64(at.item)}, "start": {float64(at.start)},
	}
	if w.places() {
		out = map[string][]float64{"item": out["item"], "start": out["start"],
			"row": {float64(m.offset(at.item) + at.start)}}
		if w.delivery != batch.View && (w.mask || w.least < w.c) {
			out["mask"] = w.real(at)
		}
		return out
	}
	masked := w.mask || w.share > 0 || w.anyMissing
	if masked {
		out["context_missing"] = w.block(m, at, w.context, 0, w.c, isMissing)
	}
	if w.p > 0 {
		out["target"] = w.block(m, at, w.target, target, end, w.value)
		if masked {
			out["target_missing"] = w.block(m, at, w.target, target, end, isMissing)
		}
	}
	if w.known != nil {
		out["known"] = w.block(m, at, w.known, 0, end, w.value)
	}
	if w.static != nil {
		out["static"] = []float64{float64(at.item % 2)}
	}
	if w.mask || w.least < w.c {
		out["mask"] = w.real(at)
	}
	return out
}

// real tells which context rows are no padding.
func (w *wish) real(at place) (out []float64) {
	for i := range w.c {
		out = append(out, flag01(w.row(at, i) >= 0))
	}
	return out
}

// read gives the values of one window's part of a batch as float64.
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
