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

// Windows is the set of windows of a dataset that a spec admits, numbered from 0. It is immutable
// and safe for concurrent use. Where, Split and Latest return subsets; they cost one request to the
// daemon and copy nothing.
type Windows struct {
	data     *Dataset
	name     string
	spec     window.Spec
	specJSON json.RawMessage
	cuts     []json.RawMessage
	itemRows *itemRows

	windows, positions int64
	rejected           map[window.Reason]int64
	features           Features
	computesKnown      bool // known has rows after the end of items, which are computed

	mu   sync.Mutex
	runs *runs // nil until fetchRuns
}

// Features names the features along the last axis of each part of a [Batch].
type Features struct {
	Context []string `json:"context"`
	Target  []string `json:"target"`
	Known   []string `json:"known"`
	Static  []string `json:"static"`
}

// Windows returns the windows that a spec admits. The error is of type InvalidSpec, with the spec's
// field in Field; of type NoWindows if the spec admits none; or of type ColumnNotFound.
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
	if p.Time != nil {
		spec.Time = p.Time // as instants
	}
	w.itemRows, err = newItemRows(d, spec)
	return w, err
}

func (w *Windows) setCounts(windows, positions int64, rejected map[window.Reason]int64) {
	w.windows, w.positions, w.rejected = windows, positions, rejected
}

// Dataset returns the windows' dataset.
func (w *Windows) Dataset() *Dataset { return w.data }

// Spec returns the spec of [Dataset.Windows].
func (w *Windows) Spec() window.Spec { return w.spec }

// Name returns the name of a part of [Windows.Split], or "" for other windows.
func (w *Windows) Name() string { return w.name }

// Len returns the number of windows.
func (w *Windows) Len() int64 { return w.windows }

// Positions returns the number of rows at which a window could start: Len plus all rejections.
func (w *Windows) Positions() int64 { return w.positions }

// Rejected returns the number of positions at which there is no window, by the first reason that
// applies. It allocates a new map.
func (w *Windows) Rejected() map[window.Reason]int64 { return maps.Clone(w.rejected) }

// Features returns the names of the features along the last axis of each part.
func (w *Windows) Features() Features { return w.features }

// Where returns the windows whose prediction rows are all inside the bounds. The error is of type
// InvalidSpec, ItemNotFound or NoWindows.
func (w *Windows) Where(ctx context.Context, where Where) (*Windows, error) {
	cut, err := where.encode()
	if err != nil {
		return nil, err
	}
	return w.cut(ctx, cut)
}

// Latest returns for each item the window to predict from: its context ends at the item's last row
// with a target value. Its Target is empty, and its Known has the rows after the context too. If all
// known columns are calendar columns, the rows after the item's end are computed from its last time and
// its regular step. These windows cannot be cut further.
func (w *Windows) Latest(ctx context.Context) (*Windows, error) { return w.cut(ctx, latestCut) }

// Split cuts the windows into parts, in order, by where their prediction rows are. No prediction
// row is in two parts. The error is of type InvalidSpec, or of type NoWindows for a part without
// any window; the message then names the part and counts why positions were rejected.
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

// withCut returns the windows with one more cut, without counts.
func (w *Windows) withCut(cut json.RawMessage) *Windows {
	return &Windows{data: w.data, spec: w.spec, specJSON: w.specJSON,
		cuts: append(slices.Clone(w.cuts), cut), itemRows: w.itemRows, features: w.features}
}

func (w *Windows) cut(ctx context.Context, cut json.RawMessage) (*Windows, error) {
	next := w.withCut(cut)
	p, err := next.plan(ctx, wire.PlanRequest{})
	if err != nil {
		return nil, err
	}
	next.setCounts(p.Windows, p.Positions, p.Rejected)
	next.features, next.computesKnown = Features(p.Features), p.ComputesKnown
	return next, nil
}

// selection returns the request fields that select these windows.
func (w *Windows) selection() (wire.Selection, error) {
	release, err := w.data.acquire() // fails if the handle is closed
	if err != nil {
		return wire.Selection{}, err
	}
	release()
	return wire.Selection{Generation: w.data.generation, Digest: w.data.Digest(), Spec: w.specJSON,
		Cuts: w.cuts}, nil
}

// post sends a request about these windows to the daemon.
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

// fetchRuns returns the list of runs. The first call asks the daemon for it.
func (w *Windows) fetchRuns(ctx context.Context) (*runs, error) {
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

// Starts returns the first rows of an item's windows, ascending, counted from the item's first row.
// They are negative for windows that begin with padding. item is the item's value, as for
// [Dataset.ItemCode].
func (w *Windows) Starts(ctx context.Context, item any) ([]int64, error) {
	code, err := w.data.ItemCode(item)
	if err != nil {
		return nil, err
	}
	runs, err := w.fetchRuns(ctx)
	if err != nil {
		return nil, err
	}
	return runs.starts(code), nil
}

// PerItem returns the number of windows of each item, indexed by the item's code.
func (w *Windows) PerItem(ctx context.Context) ([]int64, error) {
	runs, err := w.fetchRuns(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, w.data.Items())
	for i := range runs.RunCount() {
		item, _, count := runs.RunAt(i)
		counts[item] += count
	}
	return counts, nil
}

// isLatest reports whether these are windows of Latest, which have no target.
func (w *Windows) isLatest() bool {
	return len(w.cuts) > 0 && string(w.cuts[len(w.cuts)-1]) == string(latestCut)
}

// featureColumns returns the columns of a list of features. A column of shape [rows, n] has n
// consecutive features.
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
