package tensorcache

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// FeedPart is a part of batches, for [FeedOptions.Parts].
type FeedPart struct {
	// Part is context, target, known, known_context, known_target, static, mask, or a mask of values:
	// observed, target_observed, context_missing or target_missing. docs/WINDOWS.md describes them.
	Part string
	// Name is the name of the part for [PartOf]. "" is Part, and then the field of [Batch] has the part
	// too. Another name is needed for a second part of the same columns, and for one of another type
	// than the feed's.
	Name string
	// Columns are columns of the part, in the order of the last axis. Nil is all of them.
	Columns []string
	// DType is float32, float64, int32, int64, or the dtype in which all columns are stored. "" is the
	// dtype of the spec. Masks have their own: observed and target_observed float32, the others bool.
	DType string
}

// batchFields are the parts that have a field in Batch.
var batchFields = []string{"context", "target", "known", "known_context", "known_target", "static", "observed",
	"target_observed", "context_missing", "target_missing", "mask"}

// checkParts returns an error for parts that the client cannot deliver.
func (o FeedOptions) checkParts() error {
	if o.Parts == nil {
		return nil
	}
	if d := cmp.Or(o.Delivery, DeliverSlot); d != DeliverSlot && d != DeliverAuto {
		e := errorf(InvalidSpec, "delivery", "delivery: got %q with Parts, want %q or %q", d, DeliverSlot,
			DeliverAuto)
		e.Hint = "leave Parts out: the batch then has the parts of the spec"
		return e
	}
	for _, p := range o.Parts {
		if p.Name != p.Part && slices.Contains(batchFields, p.Name) {
			return errorf(InvalidSpec, "parts", "parts: got the name %q for %s; a field of Batch has that name",
				p.Name, p.Part)
		}
	}
	return nil
}

// partRequests returns the parts as the daemon wants them; nil without any.
func (o FeedOptions) partRequests() []wire.PartRequest {
	if o.Parts == nil {
		return nil
	}
	out := []wire.PartRequest{}
	for _, p := range o.Parts {
		out = append(out, wire.PartRequest{Name: cmp.Or(p.Name, p.Part), Part: p.Part, Columns: p.Columns,
			DType: p.DType})
	}
	return out
}

// PartOf returns a part of a batch by its name in [FeedOptions.Parts]. It is valid as long as the
// batch. The error wraps ErrType if V is not the type of the part, and is of type InvalidRequest if
// the batch has no part of that name.
func PartOf[V, T Value](b *Batch[T], name string) (Part[V], error) {
	if b.slot.layout == nil {
		return Part[V]{}, errorf(InvalidRequest, "name",
			"part %q: only valid batches of a feed with Parts have parts by name", name)
	}
	p, ok := b.slot.layout.parts[name]
	if !ok {
		return Part[V]{}, errorf(InvalidRequest, "name", "no part is named %q; there are: %s", name,
			strings.Join(slices.Sorted(maps.Keys(b.slot.layout.parts)), ", "))
	}
	if err := checkType[V](name, p.dtype); err != nil {
		return Part[V]{}, err
	}
	return partInSlot[V](b.slot.layout, name, b.slot.memory, b.Len()), nil
}
