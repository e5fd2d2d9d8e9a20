package tensorcache

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// slotLayout says where in a slot each part of a batch is.
type slotLayout struct {
	size  int64
	rows  int64
	parts map[string]slotPart
}

type slotPart struct {
	dtype  layout.DType
	shape  []int // with the batch size
	offset int64
	row    int64 // values a window
}

// newSlotLayout checks that all parts lie in the slot.
func newSlotLayout(r wire.FeedReply) (*slotLayout, error) {
	l := &slotLayout{size: r.SlotBytes, parts: map[string]slotPart{}}
	for _, p := range r.Parts {
		part := slotPart{dtype: p.DType, offset: p.Offset, row: 1}
		bytes := p.DType.Size()
		for i, n := range p.Shape {
			if bytes < 1 || n < 0 || n > 0 && bytes > r.SlotBytes/n {
				return nil, fmt.Errorf("%w: a slot of %d bytes with a part %+v", ErrProtocol,
					r.SlotBytes, p)
			}
			bytes *= n
			part.shape = append(part.shape, int(n))
			if i > 0 {
				part.row *= n
			}
		}
		if len(p.Shape) == 0 || p.Offset < 0 || p.Offset%p.DType.Size() != 0 ||
			p.Offset > r.SlotBytes-bytes {
			return nil, fmt.Errorf("%w: a slot of %d bytes with a part %+v", ErrProtocol,
				r.SlotBytes, p)
		}
		l.rows = p.Shape[0]
		l.parts[p.Name] = part
	}
	return l, nil
}

// makeBatch is the batch of so many windows in a slot's memory.
func makeBatch[T Value](l *slotLayout, memory []byte, rows int) *Batch[T] {
	return &Batch[T]{
		Context: partOf[T](l, "context", memory, rows),
		Target:  partOf[T](l, "target", memory, rows),
		Known:   partOf[T](l, "known", memory, rows), Static: partOf[T](l, "static", memory, rows),
		Item:           partOf[int64](l, "item", memory, rows).Data,
		Start:          partOf[int64](l, "start", memory, rows).Data,
		Mask:           partOf[bool](l, "mask", memory, rows),
		ContextMissing: partOf[bool](l, "context_missing", memory, rows),
		TargetMissing:  partOf[bool](l, "target_missing", memory, rows),
		Reset:          partOf[bool](l, "reset", memory, rows).Data,
	}
}

func partOf[T Value](l *slotLayout, name string, memory []byte, rows int) Part[T] {
	p, ok := l.parts[name]
	if !ok {
		return Part[T]{}
	}
	shape := p.shape
	if rows != shape[0] {
		shape = copySlice(shape)
		shape[0] = rows
	}
	bytes := int64(rows) * p.row * p.dtype.Size()
	return Part[T]{Data: cast[T](memory[p.offset : p.offset+bytes]), Shape: shape}
}
