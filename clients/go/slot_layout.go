package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// slotLayout says where in a slot each part of a batch is.
type slotLayout struct {
	slotBytes int64
	batchSize int64
	parts     map[string]slotPart
}

type slotPart struct {
	dtype           layout.DType
	shape           []int // with the batch size
	offset          int64
	valuesPerWindow int64 // values a window
}

// newSlotLayout checks that all parts lie in the slot.
func newSlotLayout(r wire.FeedReply) (*slotLayout, error) {
	l := &slotLayout{slotBytes: r.SlotBytes, parts: map[string]slotPart{}}
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

// makeBatch is the batch of so many windows in a slot's memory.
func batchInSlot[T Value](l *slotLayout, memory []byte, rows int) *Batch[T] {
	return &Batch[T]{
		Context:        partInSlot[T](l, "context", memory, rows),
		Target:         partInSlot[T](l, "target", memory, rows),
		Known:          partInSlot[T](l, "known", memory, rows),
		Static:         partInSlot[T](l, "static", memory, rows),
		Item:           partInSlot[int64](l, "item", memory, rows).Data,
		Start:          partInSlot[int64](l, "start", memory, rows).Data,
		Mask:           partInSlot[bool](l, "mask", memory, rows),
		ContextMissing: partInSlot[bool](l, "context_missing", memory, rows),
		TargetMissing:  partInSlot[bool](l, "target_missing", memory, rows),
		Reset:          partInSlot[bool](l, "reset", memory, rows).Data,
	}
}

func partInSlot[T Value](l *slotLayout, name string, memory []byte, rows int) Part[T] {
	p, ok := l.parts[name]
	if !ok {
		return Part[T]{}
	}
	shape := p.shape
	if rows != shape[0] {
		shape = copySlice(shape)
		shape[0] = rows
	}
	bytes := int64(rows) * p.valuesPerWindow * p.dtype.Size()
	return Part[T]{Data: valuesOfBytes[T](memory[p.offset : p.offset+bytes]), Shape: shape}
}
