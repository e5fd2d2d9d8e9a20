package tensorcache

import (
	"fmt"
	"sync"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// spareBlocks is how many blocks a gatherer keeps for batches to come; who held more batches at
// once frees the rest.
const maxFreeBuffers = 16

// gatherer makes batches of what is mapped here, by the deliveries view and local. The maps stay
// until it is closed and no batch is held any more.
type batchBuilder[T Value] struct {
	reader   *windowReader[T]
	withMask bool  // views tell of padding, which they do not have
	stride   int64 // rows between neighbouring windows
	unmap    func()

	mu          sync.Mutex
	freeBuffers []*batchBuffer[T]
	lent        int
	closed      bool
}

// gathered is memory that one batch is gathered into.
type batchBuffer[T Value] struct {
	batch   Batch[T]
	release func()
}

func newBatchBuilder[T Value](w *Windows, o FeedOptions) (*batchBuilder[T], error) {
	release, err := w.data.retain()
	if err != nil {
		return nil, err
	}
	b := &batchBuilder[T]{withMask: o.Mask, stride: max(1, w.spec.Stride)}
	if b.reader, err = newWindowReader[T](w, int(max(0, o.BatchSize)), o.ChannelsFirst,
		o.Mask); err != nil {
		release()
		return nil, err
	}
	endRandomAccess := w.data.data.Map().Scattered()
	b.unmap = func() {
		endRandomAccess()
		release()
	}
	return b, nil
}

// gather fills the parts of a batch by its places.
func (bb *batchBuilder[T]) gather(b *Batch[T], refs *batchRefs) error {
	buffer := bb.takeBuffer()
	if buffer == nil {
		return fmt.Errorf("the feed is %w", ErrClosed)
	}
	refs.freeBuffer = buffer.release
	if b.Mask.Data == nil && bb.withMask {
		bb.reader.markRealRows(b, &buffer.batch)
	}
	return bb.reader.gather(b, &buffer.batch)
}

// view is a batch of windows that start a stride apart: the slot says where the first of them is.
func (bb *batchBuilder[T]) view(s *stream, d wire.Descriptor) (*Batch[T], error) {
	buffer := bb.takeBuffer()
	if buffer == nil {
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	var item, start int64
	if !s.ring.peek(d.Slot, func(memory []byte) {
		item, start = partInSlot[int64](s.layout, "item", memory, 1).Data[0],
			partInSlot[int64](s.layout, "start", memory, 1).Data[0]
	}) {
		buffer.release()
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	n := int(d.Rows)
	if cap(buffer.batch.Item) < n {
		buffer.batch.Item, buffer.batch.Start = make([]int64, n), make([]int64, n)
	}
	b := &Batch[T]{Item: buffer.batch.Item[:n], Start: buffer.batch.Start[:n],
		rows: bb.reader.windows.rows, refs: &batchRefs{freeBuffer: buffer.release}}
	b.refs.count.Store(1)
	for i := range n {
		b.Item[i], b.Start[i] = item, start+int64(i)*bb.stride
	}
	if err := bb.reader.view(b, &buffer.batch, bb.stride); err != nil {
		b.unref(b.refs)
		return nil, err
	}
	if bb.withMask {
		bb.reader.markRealRows(b, &buffer.batch)
	}
	return b, nil
}

// take is memory for a batch, nil once the maps may be gone.
func (b *batchBuilder[T]) takeBuffer() *batchBuffer[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.lent++
	if last := len(b.freeBuffers) - 1; last >= 0 {
		buffer := b.freeBuffers[last]
		b.freeBuffers = b.freeBuffers[:last]
		return buffer
	}
	buffer := &batchBuffer[T]{}
	buffer.release = func() { b.freeBuffer(buffer) }
	return buffer
}

func (b *batchBuilder[T]) freeBuffer(buffer *batchBuffer[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lent--
	if len(b.freeBuffers) < maxFreeBuffers {
		b.freeBuffers = append(b.freeBuffers, buffer)
	}
	b.unmapWhenUnused()
}

// close lets go of the maps, as soon as no batch is held. Calling it again does nothing.
func (b *batchBuilder[T]) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.unmapWhenUnused()
}

func (b *batchBuilder[T]) unmapWhenUnused() {
	if b.closed && b.lent == 0 {
		b.unmap()
		b.freeBuffers = nil
	}
}
