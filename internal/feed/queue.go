package feed

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// queue is the end of a ring's memory by which descriptors come and credits go without a system
// call. The daemon writes descriptors and how many it has sent, and whether it sleeps; the client
// writes credits and how many it has given. Each side writes what it counts after what it has
// counted, and reads in the other order, which is enough where stores become visible in their
// order: on amd64.
//
// What the client writes is read once, each word by itself, and checked as what comes over the
// socket is.
type queue struct {
	words []uint64
	slots uint64 // credits there is room for
	room  uint64 // descriptors there is room for
	sent  uint64
	taken uint64 // credits
}

// Words of the queue. What one side writes and the other one reads stands in lines of its own.
const (
	queueSent   = 0
	queueAsleep = 1
	queueGiven  = 8
	queueRead   = 9
	queueFirst  = 16
	entryWords  = wire.DescriptorSize / 8
)

// queueRoom is how many descriptors may be under way: of all slots, with an epoch without a batch
// behind each of them, twice, as after a seek what was sent before may not be read yet.
func queueRoom(slots int) uint64 { return uint64(4*slots + 16) }

// fits tells whether there is room for n batches, an epoch without a batch behind each of them, and
// one more.
func (q *queue) fits(n int) (bool, error) {
	read := atomic.LoadUint64(&q.words[queueRead])
	unread := q.sent - read
	if unread > q.room {
		return false, fmt.Errorf("%w: %d descriptors read of %d that were sent", wire.ErrFrame,
			read, q.sent)
	}
	return unread+uint64(2*n+2) <= q.room, nil
}

// queueBytes is the memory that a queue takes.
func queueBytes(slots int) int64 {
	words := queueFirst + queueRoom(slots)*entryWords + uint64(slots)
	return int64(words+7) / 8 * 64
}

func newQueue(memory []byte, slots int) *queue {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/8)
	return &queue{words: words, slots: uint64(slots), room: queueRoom(slots)}
}

// send passes descriptors on.
func (q *queue) send(descriptors []byte) {
	for ; len(descriptors) > 0; descriptors = descriptors[wire.DescriptorSize:] {
		at := queueFirst + q.sent%q.room*entryWords
		for i := range uint64(entryWords) {
			q.words[at+i] = binary.LittleEndian.Uint64(descriptors[8*i:])
		}
		q.sent++
	}
	atomic.StoreUint64(&q.words[queueSent], q.sent)
}

// asleep tells the client whether it has to wake the daemon where it gives credits.
func (q *queue) asleep(yes bool) {
	var flag uint64
	if yes {
		flag = 1
	}
	atomic.StoreUint64(&q.words[queueAsleep], flag)
}

// credits takes slots back, and says how many.
func (q *queue) credits(take func(slot uint64) error) (int, error) {
	given := atomic.LoadUint64(&q.words[queueGiven])
	n := given - q.taken
	if n > q.slots {
		return 0, fmt.Errorf("%w: %d credits given, %d taken, for %d slots", wire.ErrFrame, given,
			q.taken, q.slots)
	}
	first := queueFirst + q.room*entryWords
	for ; q.taken != given; q.taken++ {
		if err := take(atomic.LoadUint64(&q.words[first+q.taken%q.slots])); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

// idle tells whether no credit waits to be taken.
func (q *queue) idle() bool { return atomic.LoadUint64(&q.words[queueGiven]) == q.taken }
