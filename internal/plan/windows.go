// Package plan resolves a window spec and its cuts against a generation of a dataset: which windows
// exist, and what each part of a window delivers.
//
// [New] looks up the columns that a spec names, decides the dtype of each part, collects what
// decides which windows exist (items, times, missing rows), and builds the index. What costs a pass
// over the rows is computed once and stored with the generation.
//
// # Caveats
//
// The handle of the generation must stay acquired as long as its Windows are used.
package plan

import (
	"encoding/json"
	"slices"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// Windows are the windows of a generation under a spec and cuts. They are immutable and safe for
// concurrent use.
type Windows struct {
	Index   *window.Index
	Handle  *store.Handle
	Offsets []int64 // the first row of each item, and the number of rows
	parts   []Part
	// knownAfter is nil if no window has known rows after the end of its item.
	knownAfter *calendar.Ends
	// isSelected is true if a request names the parts, and hasMask if it names the mask of padding.
	isSelected, hasMask bool
}

// Kind is what a part has for each sample of its columns.
type Kind int

const (
	KindValues   Kind = iota
	KindObserved      // 0 if the value is padding, missing, or made by the load, else 1
	KindMissing       // whether the value is missing; false for padding
)

// Part is a part of a window, such as the context: samples of some columns, as one dtype.
type Part struct {
	Name    string // of the part in batches
	Of      string // the part of the spec whose columns it has: context, target, known or static
	Kind    Kind
	Columns []*layout.ManifestColumn
	DType   layout.DType
	First   int64 // the sample of the window at which the part begins
	Length  int64 // number of samples; a static part has one, which is no sample of the window
}

// HasValues reports whether the part has the values of its columns, and is no mask.
func (p Part) HasValues() bool { return p.Kind == KindValues }

// New resolves a spec and its cuts against a generation. Errors are *wire.Problem or wrap the
// errors of package window.
func New(h *store.Handle, spec json.RawMessage, cuts []wire.Cut) (*Windows, error) {
	parsed, err := window.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	parts, err := newParts(h, parsed)
	if err != nil {
		return nil, err
	}
	w := &Windows{Handle: h, parts: parts}
	table, err := newTable(h, w, parsed)
	if err != nil {
		return nil, err
	}
	w.Offsets = table.Offsets
	index, err := w.indexOf(h, parsed, table, cuts)
	if err != nil {
		return nil, err
	}
	w.Index, w.knownAfter = index.Index, index.knownAfter
	if static, ok := w.Part(Static); ok {
		if err := checkStatic(h, static.Columns, w.Offsets); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Parts returns the parts that have columns, in the order context, target, known, static, or those that
// were selected.
func (w *Windows) Parts() []Part { return w.parts }

// Part returns a part by its name. ok is false if windows have no such part.
func (w *Windows) Part(name string) (p Part, ok bool) {
	for _, p := range w.parts {
		if p.Name == name {
			return p, true
		}
	}
	return Part{}, false
}

// Features returns the names of the features of each part.
func (w *Windows) Features() wire.Features {
	names := map[string][]string{}
	for _, p := range w.parts {
		names[p.Name] = p.features()
	}
	of := func(part string) []string { return append([]string{}, names[part]...) }
	return wire.Features{Context: of(Context), Target: of(Target), Known: of(Known),
		Static: of(Static)}
}

// ContextDType returns the dtype of the context.
func (w *Windows) ContextDType() layout.DType {
	context, _ := w.Part(Context)
	return context.DType
}

// IsPadded reports whether the spec admits windows that begin before the first row of an item that
// it admits.
func (w *Windows) IsPadded() bool {
	spec := w.Index.Spec()
	return spec.MinContext != nil && *spec.MinContext < spec.ContextLength
}

// HasMask reports whether batches have the mask of padding. If no parts are selected, they have it if
// windows may be padded.
func (w *Windows) HasMask() bool { return w.hasMask || !w.isSelected && w.IsPadded() }

// HasMissing reports whether batches have the masks of missing values of context and target: if the
// spec admits missing values, unless parts are selected.
func (w *Windows) HasMissing() bool {
	limit := w.Index.Spec().MaxMissing
	return !w.isSelected && (limit.Any || limit.Share > 0)
}

// HasValueMasks reports whether a request names masks of values, such as observed.
func (w *Windows) HasValueMasks() bool {
	isMask := func(p Part) bool { return !p.HasValues() }
	return slices.ContainsFunc(w.parts, isMask)
}

// AreConsecutive reports whether windows start a stride apart in one item. Their numbers ascend,
// except where a tail wraps.
func (w *Windows) AreConsecutive(numbers []int64) bool {
	last := int64(len(numbers) - 1)
	a, b := w.Index.Place(numbers[0]), w.Index.Place(numbers[last])
	return numbers[last]-numbers[0] == last && a.Item == b.Item &&
		b.Start-a.Start == last*max(w.Index.Spec().Stride, 1)
}
