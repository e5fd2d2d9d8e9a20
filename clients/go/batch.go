package tensorcache

import (
	"sync"
	"sync/atomic"
)

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

	rows *itemRows
	refs *batchRefs
}

// Len is the number of windows.
func (b *Batch[T]) Len() int { return len(b.Item) }

// Rows are the rows of the dataset at which the windows start: the item's first row and Start
// together. It makes a new slice.
func (b *Batch[T]) Rows() []int64 {
	rows := make([]int64, len(b.Item))
	for i, item := range b.Item {
		rows[i] = b.rows.offsets[item] + b.Start[i]
	}
	return rows
}

// Times are the times of the first context rows, in the unit of the time column, or where a window
// is padded of the item's first admitted row. It makes a new slice, nil where the dataset has no
// time column. The error wraps ErrClosed once the dataset is closed.
func (b *Batch[T]) Times() ([]int64, error) { return b.rows.timesOf(b.Item, b.Start) }

// Copy is the same batch in memory of its own, to keep for as long as you like.
func (b *Batch[T]) Copy() *Batch[T] {
	copied := *b
	copied.refs = nil
	for _, p := range []*Part[T]{&copied.Context, &copied.Target, &copied.Known, &copied.Static} {
		*p = copyPart(*p)
	}
	for _, p := range []*Part[bool]{&copied.Mask, &copied.ContextMissing, &copied.TargetMissing} {
		*p = copyPart(*p)
	}
	copied.Item, copied.Start, copied.Reset = copySlice(b.Item), copySlice(b.Start),
		copySlice(b.Reset)
	return &copied
}

// Hold keeps the batch beyond the loop's body until release, which may be called from any
// goroutine, and more than once. It outlives the feed's Close, and the dataset's. Who holds nearly
// all slots gets further batches as copies, so a loop never waits for itself.
func (b *Batch[T]) Hold() (release func()) {
	refs := b.refs
	if refs == nil { // of its own memory, or over already
		return func() {}
	}
	refs.count.Add(1)
	return sync.OnceFunc(func() { b.unref(refs) })
}

// drop takes back one hold, and with the last gives back what the batch is made of.
func (b *Batch[T]) unref(refs *batchRefs) {
	if refs.count.Add(-1) > 0 {
		return
	}
	*b = Batch[T]{}
	if refs.ring != nil {
		refs.ring.giveBack(refs.slot)
	}
	if refs.freeBuffer != nil {
		refs.freeBuffer()
	}
}

// holder counts who holds a batch: the loop's body, and each Hold.
type batchRefs struct {
	count      atomic.Int32
	ring       *ring // nil where no slot is held
	slot       uint32
	freeBuffer func() // gives back memory of the gatherer; nil where there is none
}
