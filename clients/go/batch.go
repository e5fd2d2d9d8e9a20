package tensorcache

import (
	"sync"
	"sync/atomic"
)

// Batch is consecutive windows of an epoch's order, or the windows that [At] was asked for. Parts
// that the spec does not ask for are empty.
//
// A batch of a feed is valid in the body of the loop that received it. Afterwards all its fields
// are empty, and its memory is reused; see [Batch.Hold] and [Batch.Copy]. The caller may write to
// the parts, except by [DeliverView]: a view is read-only memory, and a write ends the program. By
// [DeliverStarts] a batch has only Item, Start, Mask and Reset.
//
// In the shapes, B is the number of windows, F the number of the part's features, and C, L, G and P
// are ContextLength, Overlap, Gap and PredictionLength of the spec.
type Batch[T Value] struct {
	Context Part[T] // [B, C, F], or [B, F, C] with ChannelsFirst
	Target  Part[T] // [B, L + P, F], or [B, F, L + P]
	// Known has the columns known in advance: [B, C + G + P, F], or [B, F, C + G + P].
	Known  Part[T]
	Static Part[T] // [B, F]: the columns that are constant in an item
	// KnownContext and KnownTarget are the samples of Known at the rows of Context and of Target, if
	// FeedOptions.Parts has them. In windows of [Windows.Latest], KnownTarget is full.
	KnownContext, KnownTarget Part[T]

	ItemCode []int64 // the code of each window's item; [Dataset.Item] returns its value
	// Start is each window's first row, counted from the item's first row. It is negative if the
	// window begins with padding before the item.
	Start []int64

	Mask           Part[bool] // [B, C]: true for a real row, false for padding
	ContextMissing Part[bool] // of the shape of Context: true for a missing value
	TargetMissing  Part[bool] // of the shape of Target: true for a missing value
	// Observed and TargetObserved are 0 for a value of Context or of Target that is padding, missing in
	// the source, or made by the load (Fill, Regrid), else 1. Batches have them if FeedOptions.Parts
	// does.
	Observed, TargetObserved Part[float32]
	// Reset is true for a window that does not continue the window at the same index of the batch
	// before. Only the order lanes has it.
	Reset []bool

	itemRows *itemRows
	refs     *batchRefs
	slot     slotOfBatch // for PartOf; empty if no parts were requested by name
}

// slotOfBatch is the memory of a batch in the layout of a slot.
type slotOfBatch struct {
	layout *slotLayout
	memory []byte
}

// Len returns the number of windows.
func (b *Batch[T]) Len() int { return len(b.ItemCode) }

// Item returns the value of the item of window i, as [Dataset.Item] does for a code. The error
// wraps ErrClosed if the dataset is closed.
func (b *Batch[T]) Item(i int) (any, error) { return b.itemRows.data.Item(b.ItemCode[i]) }

// Rows returns the rows of the dataset at which the windows start: the item's first row plus Start.
// It allocates a new slice.
func (b *Batch[T]) Rows() []int64 {
	numbers := make([]int64, len(b.ItemCode))
	for i, item := range b.ItemCode {
		numbers[i] = b.itemRows.offsets[item] + b.Start[i]
	}
	return numbers
}

// Times returns the times of the first context rows, in the unit of the time column. For a padded
// window it is the time of the first real row. It allocates a new slice, or returns nil if the
// dataset has no time column. The error wraps ErrClosed if the dataset is closed.
func (b *Batch[T]) Times() ([]int64, error) { return b.itemRows.timesOf(b.ItemCode, b.Start) }

// Copy returns the batch in memory of its own, which stays valid.
func (b *Batch[T]) Copy() *Batch[T] {
	if b.slot.layout != nil {
		copied := batchInSlot[T](b.slot.layout, copySlice(b.slot.memory), b.Len())
		copied.itemRows = b.itemRows
		return copied
	}
	copied := *b
	copied.refs = nil
	for _, p := range []*Part[T]{&copied.Context, &copied.Target, &copied.Known, &copied.Static} {
		*p = copyPart(*p)
	}
	for _, p := range []*Part[bool]{&copied.Mask, &copied.ContextMissing, &copied.TargetMissing} {
		*p = copyPart(*p)
	}
	copied.ItemCode, copied.Start, copied.Reset = copySlice(b.ItemCode), copySlice(b.Start),
		copySlice(b.Reset)
	return &copied
}

// Hold keeps the batch valid after the loop's body, until release. Any goroutine may call release,
// and more than once. A held batch stays valid after Close of the feed and of the dataset.
//
// By [DeliverSlot] a held batch occupies a slot. If a program holds all slots but two, further
// batches are copies, so that the loop never waits for a slot that it holds itself.
func (b *Batch[T]) Hold() (release func()) {
	refs := b.refs
	if refs == nil { // a copy, or no longer valid
		return func() {}
	}
	refs.count.Add(1)
	return sync.OnceFunc(func() { b.unref(refs) })
}

// unref removes one reference. After the last one it gives back the memory of the batch.
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

// batchRefs counts the references to a batch: the loop's body, and each Hold.
type batchRefs struct {
	count      atomic.Int32
	ring       *ring // nil if the batch has no slot
	slot       uint32
	freeBuffer func() // gives back a batchBuffer; nil if the batch has none
}
