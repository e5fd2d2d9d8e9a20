package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// slotLayout is where each part of a batch is in a slot.
type slotLayout struct {
	batchSize int64
	parts     map[string]slotPart
	hasNamed  bool // parts were requested by name
}

type slotPart struct {
	dtype           layout.DType
	shape           []int // of a batch of batchSize windows
	offset          int64 // bytes
	valuesPerWindow int64
}

// newSlotLayout returns the layout of a reply. The error wraps ErrProtocol if a part is not inside
// the slot.
func newSlotLayout(r wire.FeedReply) (*slotLayout, error) {
	l := &slotLayout{parts: map[string]slotPart{}}
	for _, p := range r.Parts {
		part := slotPart{dtype: p.DType, offset: p.Offset, valuesPerWindow: 1}
		bytes := p.DType.Size()
		for i, n := range p.Shape {
			if bytes < 1 || n < 0 || n > 0 && bytes > r.SlotBytes/n {
				return nil, fmt.Errorf("%w: a slot of %d bytes with a part %+v", ErrProtocol,
					r.SlotBytes, p)
			}
			bytes *= n
			part.shape = append(part.shape, int(n))
			if i > 0 {
				part.valuesPerWindow *= n
			}
		}
		if len(p.Shape) == 0 || p.Offset < 0 || p.Offset%p.DType.Size() != 0 ||
			p.Offset > r.SlotBytes-bytes {
			return nil, fmt.Errorf("%w: a slot of %d bytes with a part %+v", ErrProtocol,
				r.SlotBytes, p)
		}
		l.batchSize = p.Shape[0]
		l.parts[p.Name] = part
	}
	return l, nil
}

// batchInSlot returns the batch of n windows in a slot's memory, without a copy.
func batchInSlot[T Value](l *slotLayout, memory []byte, n int) *Batch[T] {
	b := &Batch[T]{
		Context:        partInSlot[T](l, "context", memory, n),
		Target:         partInSlot[T](l, "target", memory, n),
		Known:          partInSlot[T](l, "known", memory, n),
		Static:         partInSlot[T](l, "static", memory, n),
		ItemCode:       partInSlot[int64](l, "item", memory, n).Data,
		Start:          partInSlot[int64](l, "start", memory, n).Data,
		Mask:           partInSlot[bool](l, "mask", memory, n),
		ContextMissing: partInSlot[bool](l, "context_missing", memory, n),
		TargetMissing:  partInSlot[bool](l, "target_missing", memory, n),
		KnownContext:   partInSlot[T](l, "known_context", memory, n),
		KnownTarget:    partInSlot[T](l, "known_target", memory, n),
		Observed:       partInSlot[float32](l, "observed", memory, n),
		TargetObserved: partInSlot[float32](l, "target_observed", memory, n),
		Reset:          partInSlot[bool](l, "reset", memory, n).Data,
	}
	if l.hasNamed {
		b.slot = slotOfBatch{l, memory}
	}
	return b
}

// partInSlot returns one part of n windows in a slot's memory, or the zero Part.
func partInSlot[T Value](l *slotLayout, name string, memory []byte, n int) Part[T] {
	p, ok := l.parts[name]
	if !ok {
		return Part[T]{}
	}
	shape := p.shape
	if n != shape[0] {
		shape = copySlice(shape)
		shape[0] = n
	}
	bytes := int64(n) * p.valuesPerWindow * p.dtype.Size()
	return Part[T]{Data: valuesOfBytes[T](memory[p.offset : p.offset+bytes]), Shape: shape}
}
