package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// Names of parts that only a request has.
const (
	KnownContext = "known_context" // the samples of known at the rows of the context
	KnownTarget  = "known_target"  // the samples of known at the rows of the target
	Mask         = "mask"          // which samples of the context are not padding
)

// valueMasks are the parts that report something about each value of another part.
var valueMasks = map[string]struct {
	of   string
	kind Kind
}{
	"observed":        {Context, KindObserved},
	"target_observed": {Target, KindObserved},
	"context_missing": {Context, KindMissing},
	"target_missing":  {Target, KindMissing},
}

// selectable are the parts that a request may name.
var selectable = slices.Concat([]string{Context, Target, Known, KnownContext, KnownTarget, Static, Mask},
	slices.Sorted(maps.Keys(valueMasks)))

// reserved are the names of parts that batches have without a request.
var reserved = []string{"item", "start", "row", "reset"}

// Select returns the same windows with the parts that a request names, in its order, and no others. If
// requested is nil, they have the parts of the spec. Errors are *wire.Problem with the field parts, or
// the field mask if mask is true, which would ask for masks beside the parts.
func (w *Windows) Select(requested []wire.PartRequest, mask bool) (*Windows, error) {
	if requested == nil {
		return w, nil
	}
	if mask {
		return nil, wire.NewProblem(wire.InvalidSpec,
			"mask: got true with parts, want the name mask among them").WithField("mask")
	}
	out := *w
	out.parts, out.isSelected, out.hasMask = nil, true, false
	names := map[string]bool{}
	for _, r := range requested {
		switch {
		case r.Name == "":
			return nil, badPart("%s has no name", r.Part)
		case names[r.Name]:
			return nil, badPart("two parts have the name %q", r.Name)
		case slices.Contains(reserved, r.Name):
			return nil, badPart("got the name %q, want another one than %s", r.Name, near.List(reserved))
		case (r.Name == Mask) != (r.Part == Mask):
			return nil, badPart("got the name %q for %s; the mask and no other part has the name %q",
				r.Name, r.Part, Mask)
		}
		names[r.Name] = true
		if r.Part == Mask {
			out.hasMask = true
			continue
		}
		p, err := w.selected(r)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, p)
	}
	return &out, nil
}

// selected returns a part that a request names.
func (w *Windows) selected(r wire.PartRequest) (Part, error) {
	of := r.Part
	if of == KnownContext || of == KnownTarget {
		of = Known
	}
	mask := valueMasks[r.Part]
	if mask.of != "" {
		of = mask.of
	}
	p, ok := w.Part(of)
	spec := w.Index.Spec()
	switch {
	case !slices.Contains(selectable, r.Part):
		return p, unknownPart(r.Part)
	case !ok || spec.PredictionLength == 0 && r.Part == KnownTarget || of == Target && w.Index.IsLatest():
		return p, badPart("these windows have no %s", r.Part)
	case mask.of != "" && r.DType != "":
		return p, badPart("%s: dtype: got %q; masks have a dtype of their own", r.Part, r.DType)
	}
	p.Name, p.Kind = r.Name, mask.kind
	switch r.Part {
	case KnownContext:
		p.Length = spec.ContextLength
	case KnownTarget:
		p.First = spec.ContextLength + spec.Gap - spec.Overlap
		p.Length = spec.Overlap + spec.PredictionLength
	}
	if r.Columns != nil {
		all := p.Columns
		p.Columns = nil
		for n, name := range r.Columns {
			if slices.Contains(r.Columns[:n], name) {
				return p, badPart("%s: column %q is there twice", r.Part, name)
			}
			i := slices.IndexFunc(all, func(c *layout.ManifestColumn) bool { return c.Name == name })
			if i < 0 {
				return p, badPart("%s has no column %q%s", r.Part, name, nearColumns(name, all))
			}
			p.Columns = append(p.Columns, all[i])
		}
		if len(p.Columns) == 0 {
			return p, badPart("%s: `columns` is empty, want names of its columns", r.Part)
		}
	}
	switch {
	case p.Kind == KindObserved:
		p.DType = layout.Float32
		return p, nil
	case p.Kind == KindMissing:
		p.DType = layout.Bool
		return p, nil
	case r.Columns == nil && r.DType == "":
		return p, nil
	}
	return p, p.convert(r, spec)
}

// convert sets the dtype of the part to that of a request, or else to that of the spec.
func (p *Part) convert(r wire.PartRequest, spec window.Spec) error {
	want := spec.DType
	if r.DType != "" {
		if want = window.DType(r.DType); !slices.Contains(converted, want) && !p.areStoredAs(want) {
			return badPart("%s: dtype: got %q, want float32, float64, int32, int64 or the dtype in which "+
				"all its columns are stored", r.Part, r.DType)
		}
	}
	var err error
	if p.DType, err = oneDType(p.Columns, want); err == nil {
		err = checkReplacements(*p, spec)
	}
	var wrong *window.SpecError
	var problem *wire.Problem
	switch {
	case errors.As(err, &problem):
		return badPart("%s: %s", r.Part, problem.Detail).WithHint("%s", problem.Hint)
	case errors.As(err, &wrong):
		return badPart("%s: %s", r.Part, wrong)
	case r.DType == "":
		return err
	}
	for _, c := range p.Columns {
		if lost := narrowed(c, p.DType); lost != "" {
			return badPart("%s: %s", r.Part, lost)
		}
	}
	return err
}

// converted are the dtypes that columns are converted to.
var converted = []window.DType{"float32", "float64", "int32", "int64"}

// areStoredAs reports whether all columns are stored in a dtype.
func (p *Part) areStoredAs(d window.DType) bool {
	isOther := func(c *layout.ManifestColumn) bool { return c.DType.Plain() != layout.DType(d) }
	return !slices.ContainsFunc(p.Columns, isOther)
}

// nearColumns lists the columns whose names are like a name, or else all.
func nearColumns(name string, columns []*layout.ManifestColumn) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if like := near.Names(name, names); len(like) > 0 {
		return "; near: " + near.List(like)
	}
	return "; it has: " + near.List(names[:min(len(names), 20)])
}

// unknownPart is the error for a name that no part has. It names similar parts.
func unknownPart(name string) *wire.Problem {
	if like := near.Names(name, selectable); len(like) > 0 {
		return badPart("got %q; near: %s", name, near.List(like))
	}
	return badPart("got %q, want %s", name, near.List(selectable))
}

// badPart is the error for a request of a part.
func badPart(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.InvalidSpec, "parts: "+format, args...).WithField("parts")
}
