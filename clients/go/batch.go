package tensorcache

import (
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/layout"
)

// Part is one array of a batch: dense, in C order, of len(Shape) axes of which the first counts the windows. It is empty where the
// spec does not ask for the part.
type Part[T Value] struct {
	Data  []T
	Shape []int
}

// Window is the piece of one window: all of Data that belongs to index i of the first axis.
func (p Part[T]) Window(i int) []T {
	size := len(p.Data) / max(1, p.Shape[0])
	return p.Data[i*size : (i+1)*size : (i+1)*size]
}

// Batch is consecutive windows of an epoch's order, or those that [At] was asked for. Parts that the spec does not ask for are
// empty. A batch of a feed is a piece of the feed's ring, yours to write to, and belongs to the body of the loop that got it:
// then all of it is empty, and its memory is filled anew. Hold and Copy keep one for longer.
type Batch[T Value] struct {
	Context Part[T] // [B, C, F], or [B, F, C] with ChannelsFirst
	Target  Part[T] // [B, L + P, F], likewise
	Known   Part[T] // [B, C + G + P, F], likewise: the columns known in advance
	Static  Part[T] // [B, F]: the values that are constant in an item

	Item  []int64 // of each window the item's code; d.Item(code) is its value
	Start []int64 // the row in the item at which it starts; negative where it is padded

	Mask           Part[bool] // [B, C], true = real row
	ContextMissing Part[bool] // the shape of Context, true = missing
	TargetMissing  Part[bool] // the shape of Target
	Reset          []bool     // true where a row does not continue the row of the batch before; order lanes alone

	source *source
	holder *holder
}

// Len is the number of windows.
func (b *Batch[T]) Len() int { return len(b.Item) }

// Rows are the rows of the dataset at which the windows start: the item's first row and Start together. It makes a new slice.
func (b *Batch[T]) Rows() []int64 {
	rows := make([]int64, len(b.Item))
	for i, item := range b.Item {
		rows[i] = b.source.offsets[item] + b.Start[i]
	}
	return rows
}

// Times are the times of the first context rows, in the unit of the time column, or where a window is padded of the item's first
// admitted row. It makes a new slice, nil where the dataset has no time column. The error wraps ErrClosed once the dataset is
// closed.
func (b *Batch[T]) Times() ([]int64, error) { return b.source.timesOf(b.Item, b.Start) }

// Copy is the same batch in memory of its own, to keep for as long as you like.
func (b *Batch[T]) Copy() *Batch[T] {
	own := *b
	own.holder = nil
	for _, p := range []*Part[T]{&own.Context, &own.Target, &own.Known, &own.Static} {
		*p = copyPart(*p)
	}
	for _, p := range []*Part[bool]{&own.Mask, &own.ContextMissing, &own.TargetMissing} {
		*p = copyPart(*p)
	}
	own.Item, own.Start, own.Reset = copySlice(b.Item), copySlice(b.Start), copySlice(b.Reset)
	return &own
}

func copyPart[T Value](p Part[T]) Part[T] { return Part[T]{copySlice(p.Data), copySlice(p.Shape)} }

func copySlice[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

// Hold keeps the batch beyond the loop's body until release, which may be called from any goroutine, and more than once. It
// outlives the feed's Close. Who holds nearly all slots gets further batches as copies, so a loop never waits for itself.
func (b *Batch[T]) Hold() (release func()) {
	h := b.holder
	if h == nil { // of its own memory, or over already
		return func() {}
	}
	h.holds.Add(1)
	return sync.OnceFunc(func() { b.drop(h) })
}

// drop takes back one hold, and gives the slot back with the last.
func (b *Batch[T]) drop(h *holder) {
	if h.holds.Add(-1) == 0 {
		*b = Batch[T]{}
		h.ring.give(h.slot)
	}
}

// holder counts who holds a slot: the loop's body, and each Hold.
type holder struct {
	holds atomic.Int32
	ring  *ring
	slot  uint32
}

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

// makeBatch is the batch of so many windows in a slot's memory.
func makeBatch[T Value](l *slotLayout, memory []byte, rows int) *Batch[T] {
	return &Batch[T]{
		Context: partOf[T](l, "context", memory, rows), Target: partOf[T](l, "target", memory, rows),
		Known: partOf[T](l, "known", memory, rows), Static: partOf[T](l, "static", memory, rows),
		Item: partOf[int64](l, "item", memory, rows).Data, Start: partOf[int64](l, "start", memory, rows).Data,
		Mask: partOf[bool](l, "mask", memory, rows), ContextMissing: partOf[bool](l, "context_missing", memory, rows),
		TargetMissing: partOf[bool](l, "target_missing", memory, rows), Reset: partOf[bool](l, "reset", memory, rows).Data,
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
