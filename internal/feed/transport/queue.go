package transport

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// queue is the memory after the slots of a ring. It passes descriptors to the client and credits to
// the daemon without a system call. The daemon writes descriptors, how many it has sent, and
// whether it waits on the socket. The client writes credits, how many it has given, and how many
// descriptors it has read. Each side writes a number after the entries that it counts, and reads it
// before them. That is enough if stores become visible in their order, as on amd64.
//
// The daemon reads each word that the client writes once, and checks it as it checks frames.
type queue struct {
	words    []uint64
	slots    uint64 // capacity for credits
	capacity uint64 // for descriptors
	sent     uint64
	taken    uint64 // credits
}

const descriptorWords = wire.DescriptorSize / 8

// QueueCapacity returns the number of descriptors that a queue can contain: those of all slots,
// each followed by an empty epoch, twice, because after a seek the client may not have read those
// sent before.
func QueueCapacity(slots int) int { return 4*slots + 16 }

// QueueBytes returns the size of a queue, in bytes.
func QueueBytes(slots int) int64 {
	words := wire.QueueFirst + QueueCapacity(slots)*descriptorWords + slots
	return int64(words+7) / 8 * 64
}

func newQueue(memory []byte, slots int) *queue {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/8)
	return &queue{words: words, slots: uint64(slots), capacity: uint64(QueueCapacity(slots))}
}

// canSend reports whether the queue has space for n batches, each followed by an empty epoch, and
// for one more.
func (q *queue) canSend(n int) (bool, error) {
	read := atomic.LoadUint64(&q.words[wire.QueueRead])
	unread := q.sent - read
	if unread > q.capacity {
		return false, fmt.Errorf("%w: %d descriptors read of %d that were sent", wire.ErrFrame,
			read, q.sent)
	}
	return unread+uint64(2*n+2) <= q.capacity, nil
}

// send writes descriptors. The caller has checked that the queue has space.
func (q *queue) send(descriptors []byte) {
	for ; len(descriptors) > 0; descriptors = descriptors[wire.DescriptorSize:] {
		at := wire.QueueFirst + q.sent%q.capacity*descriptorWords
		for i := range uint64(descriptorWords) {
			q.words[at+i] = binary.LittleEndian.Uint64(descriptors[8*i:])
		}
		q.sent++
	}
	atomic.StoreUint64(&q.words[wire.QueueSent], q.sent)
}

// setAsleep tells the client whether it must wake the daemon after it has given credits.
func (q *queue) setAsleep(asleep bool) {
	var flag uint64
	if asleep {
		flag = 1
	}
	atomic.StoreUint64(&q.words[wire.QueueAsleep], flag)
}

// takeCredits calls take for each slot that the client has given back, and returns their number.
func (q *queue) takeCredits(take func(slot uint64) error) (int, error) {
	given := atomic.LoadUint64(&q.words[wire.QueueGiven])
	n := given - q.taken
	if n > q.slots {
		return 0, fmt.Errorf("%w: %d credits given, %d taken, for %d slots", wire.ErrFrame, given,
			q.taken, q.slots)
	}
	first := wire.QueueFirst + q.capacity*descriptorWords
	for ; q.taken != given; q.taken++ {
		if err := take(atomic.LoadUint64(&q.words[first+q.taken%q.slots])); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

// isEmpty reports whether the daemon has taken all credits.
func (q *queue) isEmpty() bool { return atomic.LoadUint64(&q.words[wire.QueueGiven]) == q.taken }
