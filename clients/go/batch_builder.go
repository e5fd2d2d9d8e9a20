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
	bb := &batchBuilder[T]{withMask: o.Mask, stride: max(1, w.spec.Stride)}
	if bb.reader, err = newWindowReader[T](w, int(max(0, o.BatchSize)), o.ChannelsFirst,
		o.Mask); err != nil {
		release()
		return nil, err
	}
	endRandomAccess := w.data.data.Map().Scattered()
	bb.unmap = func() {
		endRandomAccess()
		release()
	}
	return bb, nil
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
func (bb *batchBuilder[T]) takeBuffer() *batchBuffer[T] {
	bb.mu.Lock()
	defer bb.mu.Unlock()
	if bb.closed {
		return nil
	}
	bb.lent++
	if last := len(bb.freeBuffers) - 1; last >= 0 {
		buffer := bb.freeBuffers[last]
		bb.freeBuffers = bb.freeBuffers[:last]
		return buffer
	}
	buffer := &batchBuffer[T]{}
	buffer.release = func() { bb.freeBuffer(buffer) }
	return buffer
}

func (bb *batchBuilder[T]) freeBuffer(buffer *batchBuffer[T]) {
	bb.mu.Lock()
	defer bb.mu.Unlock()
	bb.lent--
	if len(bb.freeBuffers) < maxFreeBuffers {
		bb.freeBuffers = append(bb.freeBuffers, buffer)
	}
	bb.unmapWhenUnused()
}

// close lets go of the maps, as soon as no batch is held. Calling it again does nothing.
func (bb *batchBuilder[T]) close() {
	bb.mu.Lock()
	defer bb.mu.Unlock()
	bb.closed = true
	bb.unmapWhenUnused()
}

func (bb *batchBuilder[T]) unmapWhenUnused() {
	if bb.closed && bb.lent == 0 {
		bb.unmap()
		bb.freeBuffers = nil
	}
}
