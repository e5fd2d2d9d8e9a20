package tensorcache

import (
	"fmt"
	"sync"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// maxFreeBuffers is the number of buffers that a batchBuilder keeps for later batches. It leaves
// others to the garbage collector.
const maxFreeBuffers = 16

// batchBuilder builds batches from the mapped columns in this process, for the deliveries view and
// local. The columns stay mapped until the builder is closed and no batch uses them.
type batchBuilder[T Value] struct {
	reader   *windowReader[T]
	withMask bool  // FeedOptions.Mask
	stride   int64 // rows between the starts of consecutive windows
	unmap    func()

	mu          sync.Mutex
	freeBuffers []*batchBuffer[T]
	lent        int // buffers that batches use
	closed      bool
}

// batchBuffer is reusable memory of one batch.
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
	endRandomAccess := w.data.data.Map().DisableReadAhead()
	bb.unmap = func() {
		endRandomAccess()
		release()
	}
	return bb, nil
}

// gather copies the windows at the batch's Item and Start into its parts.
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

// view returns a batch of windows that start a stride apart, as slices of the mapped file. The slot
// has the place of the first window.
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
	if cap(buffer.batch.ItemCode) < n {
		buffer.batch.ItemCode, buffer.batch.Start = make([]int64, n), make([]int64, n)
	}
	b := &Batch[T]{ItemCode: buffer.batch.ItemCode[:n], Start: buffer.batch.Start[:n],
		itemRows: bb.reader.windows.itemRows, refs: &batchRefs{freeBuffer: buffer.release}}
	b.refs.count.Store(1)
	for i := range n {
		b.ItemCode[i], b.Start[i] = item, start+int64(i)*bb.stride
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

// takeBuffer returns a buffer for a batch, or nil if the builder is closed.
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

// close unmaps the columns as soon as no batch uses them. Calling it again does nothing.
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
