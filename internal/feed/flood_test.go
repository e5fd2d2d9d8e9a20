package feed

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestIncompleteRequestsUseLittleMemory(t *testing.T) {
	const many = 200
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000)
	busy := env.attach(t, request("d"))
	defer busy.close()
	before := heap()
	var idle []client
	defer func() {
		for _, c := range idle {
			c.conn.Close()
		}
	}()
	for range many {
		c := must(dial(env.path))(t)
		idle = append(idle, c)
		if _, err := c.conn.Write(
			append(uint32Bytes(wire.MaxRequest, wire.FrameRequest),
				`{"protocol": 1, `...)); err != nil {
			t.Fatal(err)
		}
	}
	testwait.Until(t, "accepted", func() bool { return env.server.Connections() == many+1 })
	for range 200 {
		busy.credit(t, busy.batch(t).Slot)
	}
	if grown := heap() - before; grown > many<<16 {
		t.Errorf("%d connections that announce %d bytes each and send none hold %d bytes", many,
			wire.MaxRequest, grown)
	}
}

func TestAFeedWithoutCreditsFillsItsRingAndStops(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000)
	lazy := env.attach(t, request("d", with("slots", 5)))
	defer lazy.close()
	busy := env.attach(t, request("d"))
	defer busy.close()
	bytes := lazy.SlotBytes*5 + busy.SlotBytes*int64(busy.Slots)
	for range 1000 {
		busy.credit(t, busy.batch(t).Slot)
	}
	testwait.Until(t, "full", func() bool { return env.server.Feeds()[0].Batches >= 5 })
	for range 1000 {
		busy.credit(t, busy.batch(t).Slot)
	}
	testwait.Until(t, "waiting for its trainer",
		func() bool { return env.server.Feeds()[0].WaitTrainerShare >= 0.5 })
	if f := env.server.Feeds()[0]; f.Batches != 5 {
		t.Errorf("got %+v, want a feed of 5 batches", f)
	}
	if rings := env.store.Budget.Usage().Rings; rings != bytes {
		t.Errorf("rings take %d bytes, want %d", rings, bytes)
	}
}

func TestACreditForASlotThatWasNeverSentEndsTheFeed(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 7) // 2 windows for 3 ranks: the last rank gets no slot
	for _, slot := range []uint32{0, 4, 1 << 31, 1<<32 - 2} {
		t.Run(fmt.Sprint(slot), func(t *testing.T) {
			tr := env.attach(t,
				request("d", with("slots", 5), options("batch_size", 1, "num_replicas", 3, "rank",
					2, "tail", "short")))
			defer tr.close()
			tr.batch(t)
			tr.credit(t, slot)
			if p := problemIn(t, tr.ended()); p.Type != wire.ProtocolError ||
				!strings.Contains(p.Detail, fmt.Sprintf("credit for slot %d, which", slot)) {
				t.Errorf("got %s: %s", p.Type, p.Detail)
			}
			testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
		})
	}
}

func TestFramesAfterDoneAreNotRead(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d"))
	defer tr.close()
	tr.batch(t)
	if _, err := tr.conn.Write(
		slices.Concat(frames(wire.FrameDone, []byte{}, wire.FrameCredit, uint32Bytes(0, 0, 77)),
			make([]byte, 1000))); err != nil {
		t.Fatal(err)
	}
	if err := tr.ended(); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("got %v, want the end", err)
	}
	testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
}
