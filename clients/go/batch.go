package tensorcache

import (
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/layout"
)

// Part is one array of a batch: of len(Shape) axes, of which the first counts the windows. It is
// empty where the spec does not ask for the part. Values of a window are dense, in C order; so are
// the windows, unless Step says otherwise.
type Part[T Value] struct {
	Data  []T
	Shape []int
	// Step is 0 where the windows follow each other in Data. In a view they overlap: then it is the
	// number of values from the first of a window to the first of the next.
	Step int
}

// Window is the piece of one window: what belongs to index i of the first axis, without a copy.
func (p Part[T]) Window(i int) []T {
	size := p.size()
	from := i * size
	if p.Step > 0 {
		from = i * p.Step
	}
	return p.Data[from : from+size : from+size]
}

// size is how many values a window has.
func (p Part[T]) size() int {
	if len(p.Shape) == 0 {
		return 0
	}
	size := 1
	for _, n := range p.Shape[1:] {
		size *= n
	}
	return size
}

// dense is the part with windows that follow each other: a copy where they do not.
func (p Part[T]) dense() Part[T] {
	if p.Step == 0 {
		return p
	}
	return copyPart(p)
}

// Batch is consecutive windows of an epoch's order, or those that [At] was asked for. Parts that
// the spec does not ask for are empty. A batch of a feed belongs to the body of the loop that got
// it: then all of it is empty, and its memory is filled anew. Hold and Copy keep one for longer. It
// is yours to write to, but by [DeliverView]: views are of the mapped file, and to write to one
// ends the program. By [DeliverStarts] there are only Item, Start, Mask and Reset.
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
	// true where a row does not continue the row of the batch before; order lanes alone
	Reset []bool

	source *source
	holder *holder
}

// Len is the number of windows.
func (b *Batch[T]) Len() int { return len(b.Item) }

// Rows are the rows of the dataset at which the windows start: the item's first row and Start
// together. It makes a new slice.
func (b *Batch[T]) Rows() []int64 {
	rows := make([]int64, len(b.Item))
	for i, item := range b.Item {
		rows[i] = b.source.offsets[item] + b.Start[i]
	}
	return rows
}

// Times are the times of the first context rows, in the unit of the time column, or where a window
// is padded of the item's first admitted row. It makes a new slice, nil where the dataset has no
// time column. The error wraps ErrClosed once the dataset is closed.
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

func copyPart[T Value](p Part[T]) Part[T] {
	if p.Step == 0 {
		return Part[T]{Data: copySlice(p.Data), Shape: copySlice(p.Shape)}
	}
	own := Part[T]{Data: make([]T, 0, p.Shape[0]*p.size()), Shape: copySlice(p.Shape)}
	for i := range p.Shape[0] {
		own.Data = append(own.Data, p.Window(i)...)
	}
	return own
}

func copySlice[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

// Hold keeps the batch beyond the loop's body until release, which may be called from any
// goroutine, and more than once. It outlives the feed's Close, and the dataset's. Who holds nearly
// all slots gets further batches as copies, so a loop never waits for itself.
func (b *Batch[T]) Hold() (release func()) {
	h := b.holder
	if h == nil { // of its own memory, or over already
		return func() {}
	}
	h.holds.Add(1)
	return sync.OnceFunc(func() { b.drop(h) })
}

// drop takes back one hold, and with the last gives back what the batch is made of.
func (b *Batch[T]) drop(h *holder) {
	if h.holds.Add(-1) > 0 {
		return
	}
	*b = Batch[T]{}
	if h.ring != nil {
		h.ring.give(h.slot)
	}
	if h.block != nil {
		h.block()
	}
}

// holder counts who holds a batch: the loop's body, and each Hold.
type holder struct {
	holds atomic.Int32
	ring  *ring // nil where no slot is held
	slot  uint32
	block func() // gives back memory of the gatherer; nil where there is none
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
