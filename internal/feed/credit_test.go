package feed

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func uint32Bytes(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// take reads the next n batches.
func (t *trainer) take(test tb, n int) (out []wire.Descriptor) {
	test.Helper()
	for range n {
		out = append(out, t.batch(test))
	}
	return out
}

func TestASlotIsUsedAgainOnlyAfterItsCredit(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d", with("slots", 5)))
	defer tr.close()
	first := tr.take(t, 5)
	slots := make([]uint32, 0, 5)
	for _, d := range first {
		slots = append(slots, d.Slot)
	}
	if slices.Sort(slots); !slices.Equal(slots, []uint32{0, 1, 2, 3, 4}) {
		t.Fatalf("the first batches are in slots %v", slots)
	}
	for range 50 { // only one slot is free, so the next batch must be there
		tr.credit(t, first[2].Slot)
		d := tr.batch(t)
		if d.Slot != first[2].Slot {
			t.Fatalf("a batch is in slot %d, which belongs to the trainer", d.Slot)
		}
	}
	if got := tr.starts(first[1])[0]; got != 8 {
		t.Errorf("the kept batch begins with window %d now, want 8", got)
	}
}

func TestInvalidFramesEndTheFeedWithAReason(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	for name, test := range map[string]struct {
		send func(t *testing.T, tr *trainer)
		says string
	}{
		"credit twice": {func(t *testing.T,
			tr *trainer) {
			s := tr.batch(t).Slot
			tr.credit(t, s, s)
		}, "which the client does not hold"},
		"credit out of range": {func(t *testing.T, tr *trainer) { tr.credit(t, 64) },
			"credit for slot 64"},
		"credit for no slot": {func(t *testing.T, tr *trainer) { tr.credit(t, wire.NoSlot) },
			"credit for slot 4294967295"},
		"credit of odd length": {sendsFrame(wire.FrameCredit, make([]byte, 6)),
			"credit of 6 bytes"},
		"seek of odd length": {sendsFrame(wire.FrameSeek, make([]byte, 23)), "seek of 23 bytes"},
		"seek before the start": {sendsFrame(wire.FrameSeek,
			wire.Seek{Stream: 1, Consumed: -1}.Append(nil)), "consumed -1"},
		"seek to half a stream": {sendsFrame(wire.FrameSeek,
			append(uint32Bytes(1, 1), make([]byte, 16)...)),
			"a seek to stream"},
		"a second request": {sendsFrame(wire.FrameRequest, []byte("{}")), "kind 1 in a feed"},
		"a frame of the daemon's": {sendsFrame(wire.FrameBatches, make([]byte, 32)),
			"kind 102 in a feed"},
		"a frame that is too long": {func(t *testing.T, tr *trainer) {
			if _, err := tr.conn.Write(uint32Bytes(wire.MaxFrame+1, wire.FrameCredit)); err != nil {
				t.Error(err)
			}
		}, "says 65537 bytes, at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := env.attach(t, request("d", with("slots", 8)))
			defer tr.close()
			test.send(t, tr)
			p := problemIn(t, tr.ended())
			if p.Type != wire.ProtocolError || p.Status != 400 ||
				!strings.Contains(p.Detail, test.says) {
				t.Errorf("got %s: %s\nwant protocol_error with %q", p.Type, p.Detail, test.says)
			}
			testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
		})
	}
}

func sendsFrame(kind uint32, payload []byte) func(*testing.T, *trainer) {
	return func(t *testing.T, tr *trainer) {
		if err := tr.send(kind, payload); err != nil {
			t.Error(err)
		}
	}
}

func TestDoneEndsAFeedWithoutAnError(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d"))
	defer tr.close()
	tr.batch(t)
	if err := tr.send(wire.FrameDone, nil); err != nil {
		t.Fatal(err)
	}
	if err := tr.ended(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
	testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
}

func TestASeekContinuesAtItsCursor(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 105) // 100 windows: 12 batches of 8, one of 4
	tr := env.attach(t, request("d", with("slots", 16)))
	defer tr.close()
	tr.take(t, 2)
	tr.seek(t, 5, 40)
	if d := tr.batch(t); d.Epoch != 5 || d.Consumed != 48 || tr.starts(d)[0] != 40 {
		t.Errorf("got %+v of window %d, want windows from 40 on of epoch 5", d, tr.starts(d)[0])
	}
	tr.seek(t, 2, 96)
	if d := tr.batch(t); d.Epoch != 2 || d.Rows != 4 || d.Flags != wire.FlagLast ||
		d.Consumed != 100 {
		t.Errorf("got %+v, want the last 4 windows of epoch 2", d)
	}
	if d := tr.batch(t); d.Epoch != 3 || d.Consumed != 8 {
		t.Errorf("got %+v, want the first windows of epoch 3", d)
	}
	tr.seek(t, 7, 100)
	if d := tr.batch(t); d.Slot != wire.NoSlot || d.Flags != wire.FlagLast || d.Epoch != 7 ||
		d.Consumed != 100 || d.Rows != 0 {
		t.Errorf("got %+v, want a descriptor without a batch in epoch 7", d)
	}
	if d := tr.batch(t); d.Epoch != 8 || d.Consumed != 8 {
		t.Errorf("got %+v, want the first windows of epoch 8", d)
	}
	tr.seek(t, 0, 101)
	if p := problemIn(t, tr.ended()); p.Type != wire.CursorMismatch ||
		!strings.Contains(p.Detail, "consumed 101 is past the end of epoch 0 at 100") {
		t.Errorf("got %s: %s, want cursor_mismatch", p.Type, p.Detail)
	}
}

func TestTheLastOfManySeeksCounts(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1005)
	tr := env.attach(t, request("d", with("slots", 4)))
	defer tr.close()
	for i := range 500 {
		tr.seek(t, uint64(i), int64(8*(i%100)))
	}
	if d := tr.batch(t); d.Epoch != 499 || d.Consumed != 8*99+8 || tr.starts(d)[0] != 8*99 {
		t.Errorf("got %+v, want the batch at the last seek", d)
	}
}

func TestTheNextEpochFollowsTheLastBatch(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 21) // 16 windows: 2 batches
	tr := env.attach(t, request("d", with("slots", 5)))
	defer tr.close()
	var got []wire.Descriptor
	for _, d := range tr.take(t, 5) { // without a credit
		d.Slot = 0
		got = append(got, d)
	}
	want := []wire.Descriptor{
		{Rows: 8, Epoch: 0, Consumed: 8}, {Rows: 8, Epoch: 0, Consumed: 16, Flags: wire.FlagLast},
		{Rows: 8, Epoch: 1, Consumed: 8}, {Rows: 8, Epoch: 1, Consumed: 16, Flags: wire.FlagLast},
		{Rows: 8, Epoch: 2, Consumed: 8},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestARankWithoutBatchesWaitsForASeek(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 7) // 2 windows for 3 ranks
	tr := env.attach(t,
		request("d",
			with("options", map[string]any{"batch_size": 1, "num_replicas": 3, "rank": 2,
				"tail": "short"})))
	defer tr.close()
	if tr.Batches != 0 {
		t.Errorf("%d batches, want none", tr.Batches)
	}
	empty := func(epoch uint64) {
		t.Helper()
		want := wire.Descriptor{Slot: wire.NoSlot, Stream: tr.stream, Flags: wire.FlagLast,
			Epoch: epoch, Consumed: 2}
		if d := tr.batch(t); d != want {
			t.Errorf("got %+v, want %+v", d, want)
		}
	}
	empty(0)
	empty(1)
	tr.seek(t, 9, 0)
	empty(9)
	empty(10)
	if len(tr.pending) != 0 {
		t.Errorf("%+v was sent without a seek", tr.pending)
	}
}

func TestTwoFeedsAreIndependent(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 505)
	env.publishSeries(t, "e", 305)
	one, two := env.attach(t, request("d")),
		env.attach(t, request("e", with("options", map[string]any{"batch_size": 10})))
	defer one.close()
	defer two.close()
	if f := env.server.Feeds(); len(f) != 2 || f[0].Dataset != "d" || f[1].Dataset != "e" ||
		f[0].Feed == f[1].Feed {
		t.Errorf("feeds %+v", f)
	}
	for i := range 100 {
		a, b := one.batch(t), two.batch(t)
		if s := one.starts(a)[0]; s != int64(i)*8%504 && a.Flags == 0 && a.Epoch == 0 {
			t.Fatalf("batch %d of the first begins at %d", i, s)
		}
		if s := two.starts(b)[0]; b.Epoch == 0 && s != int64(i)*10 {
			t.Fatalf("batch %d of the second begins at %d", i, s)
		}
		one.credit(t, a.Slot)
		two.credit(t, b.Slot)
	}
}
