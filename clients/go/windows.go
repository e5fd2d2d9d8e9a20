package tensorcache

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// Windows are the windows of a dataset that a spec admits, numbered from 0. They are immutable,
// cheap to cut further, and safe for concurrent use.
type Windows struct {
	data     *Dataset
	name     string
	spec     window.Spec
	specJSON json.RawMessage
	cuts     []json.RawMessage
	rows     *itemRows

	windows, positions int64
	rejected           map[window.Reason]int64
	features           Features

	mu   sync.Mutex
	runs *runs // fetched when first asked for
}

// Features names, part by part, what stands along the last axis of a [Batch].
type Features struct {
	Context []string `json:"context"`
	Target  []string `json:"target"`
	Known   []string `json:"known"`
	Static  []string `json:"static"`
}

// Windows asks which windows a spec admits. The error is of type InvalidSpec, with the Field that
// is to blame, of type NoWindows where none is left, or ColumnNotFound.
func (d *Dataset) Windows(ctx context.Context, spec window.Spec) (*Windows, error) {
	canonical, err := encodeSpec(spec)
	if err != nil {
		return nil, err
	}
	w := &Windows{data: d, spec: spec, specJSON: canonical}
	p, err := w.plan(ctx, wire.PlanRequest{})
	if err != nil {
		return nil, err
	}
	w.setCounts(p.Windows, p.Positions, p.Rejected)
	w.features = Features(p.Features)
	w.rows, err = newItemRows(d, spec)
	return w, err
}

func (w *Windows) setCounts(windows, positions int64, rejected map[window.Reason]int64) {
	w.windows, w.positions, w.rejected = windows, positions, rejected
}

// Dataset is where the windows come from.
func (w *Windows) Dataset() *Dataset { return w.data }

// Spec is the spec as it was given.
func (w *Windows) Spec() window.Spec { return w.spec }

// Name is what [Windows.Split] named the part; "" where it is none.
func (w *Windows) Name() string { return w.name }

// Len is the number of windows.
func (w *Windows) Len() int64 { return w.windows }

// Positions is the number of places where a window could start; windows and rejections add up to
// it.
func (w *Windows) Positions() int64 { return w.positions }

// Rejected counts the positions that are no window, by the first reason that holds. It makes a new
// map.
func (w *Windows) Rejected() map[window.Reason]int64 { return maps.Clone(w.rejected) }

// Features names what stands along the last axis of each part.
func (w *Windows) Features() Features { return w.features }

// Where keeps the windows whose prediction rows all lie inside.
func (w *Windows) Where(ctx context.Context, where Where) (*Windows, error) {
	cut, err := where.encode()
	if err != nil {
		return nil, err
	}
	return w.cut(ctx, cut)
}

// Latest has, for every item, the one window whose context ends at its last row with a target
// value: what to forecast from. Its Target is empty; Known has the rows after the context too.
// Nothing can be cut out of it further.
func (w *Windows) Latest(ctx context.Context) (*Windows, error) { return w.cut(ctx, latestCut) }

// Split cuts into parts, in order, by where the prediction rows lie; no prediction row is in two
// parts. A part that has no window of any item is an error, which names it and counts what its
// positions were lost to.
func (w *Windows) Split(ctx context.Context, split Split) ([]*Windows, error) {
	request, err := split.encode()
	if err != nil {
		return nil, err
	}
	p, err := w.plan(ctx, wire.PlanRequest{SplitSelection: wire.SplitSelection{Split: request}})
	if err != nil {
		return nil, err
	}
	parts := make([]*Windows, len(p.Splits))
	for i, s := range p.Splits {
		cut, err := json.Marshal(s.Cut)
		if err != nil {
			return nil, err
		}
		parts[i] = w.withCut(cut)
		parts[i].name = s.Name
		parts[i].setCounts(s.Windows, s.Positions, s.Rejected)
	}
	return parts, nil
}

// with is the windows with another cut, not counted yet.
func (w *Windows) withCut(cut json.RawMessage) *Windows {
	return &Windows{data: w.data, spec: w.spec, specJSON: w.specJSON,
		cuts: append(slices.Clone(w.cuts), cut), rows: w.rows, features: w.features}
}

func (w *Windows) cut(ctx context.Context, cut json.RawMessage) (*Windows, error) {
	next := w.withCut(cut)
	p, err := next.plan(ctx, wire.PlanRequest{})
	if err != nil {
		return nil, err
	}
	next.setCounts(p.Windows, p.Positions, p.Rejected)
	next.features = Features(p.Features)
	return next, nil
}

// selection is how the daemon is told of these windows.
func (w *Windows) selection() (wire.Selection, error) {
	release, err := w.data.acquire() // a closed handle has no generation to ask about
	if err != nil {
		return wire.Selection{}, err
	}
	release()
	return wire.Selection{Generation: w.data.generation, Digest: w.data.Digest(), Spec: w.specJSON,
		Cuts: w.cuts}, nil
}

// ask sends a question about these windows to the daemon.
func (w *Windows) post(ctx context.Context, action string, request, reply any) error {
	return clientError(w.data.cache.control.Post(ctx, control.Dataset(w.data.name, action),
		request, reply))
}

func (w *Windows) plan(ctx context.Context, r wire.PlanRequest) (*wire.PlanReply, error) {
	var err error
	if r.Selection, err = w.selection(); err != nil {
		return nil, err
	}
	var p wire.PlanReply
	return &p, w.post(ctx, "/plan", r, &p)
}

// index is the list of runs, asked for once.
func (w *Windows) index(ctx context.Context) (*runs, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs != nil {
		return w.runs, nil
	}
	s, err := w.selection()
	if err != nil {
		return nil, err
	}
	var b []byte
	if err := w.post(ctx, "/runs", s, &b); err != nil {
		return nil, err
	}
	r, err := parseRuns(b, max(1, w.spec.Stride))
	if err != nil {
		return nil, err
	}
	r.contiguous = max(1, w.spec.Stride) == w.spec.ContextLength*max(1, w.spec.Dilation)
	w.runs = r
	return r, nil
}

// Starts are the start rows in the item of an item's windows, ascending; negative where they are
// padded. The item is named by its value, nil in a dataset without item_id.
func (w *Windows) Starts(ctx context.Context, item any) ([]int64, error) {
	code, err := w.data.ItemCode(item)
	if err != nil {
		return nil, err
	}
	r, err := w.index(ctx)
	if err != nil {
		return nil, err
	}
	return r.starts(code), nil
}

// PerItem counts the windows of each item, by its code.
func (w *Windows) PerItem(ctx context.Context) ([]int64, error) {
	r, err := w.index(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, w.data.Items())
	for i := range r.RunCount() {
		item, _, count := r.RunAt(i)
		counts[item] += count
	}
	return counts, nil
}

// isLatest tells whether the windows are made to forecast from, so that they have no target.
func (w *Windows) isLatest() bool {
	return len(w.cuts) > 0 && string(w.cuts[len(w.cuts)-1]) == string(latestCut)
}

// columns are those that a list of features comes from: one of shape [rows, n] gives n in a row.
func (w *Windows) featureColumns(features []string) ([]*layout.ManifestColumn, error) {
	var out []*layout.ManifestColumn
	for len(features) > 0 {
		c, err := w.data.featureColumn(features[0])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		features = features[min(len(features), int(max(1, c.Width()))):]
	}
	return out, nil
}
