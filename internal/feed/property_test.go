package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// TestEveryBatchIsTheSliceThatTheDesignSays draws datasets, specs, orders and ranks, and holds
// every part of every batch against a slice that is cut by the definitions, one cell after the
// other.
func TestEveryBatchIsTheSliceThatTheDesignSays(t *testing.T) {
	w := newWorld(t, roomy)
	n := 0
	served := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		name := fmt.Sprintf("d%d", n)
		data := drawDataset(t)
		data.publish(t, w, name)
		defer func() {
			if _, err := w.store.Remove(name); err != nil {
				t.Fatal(err)
			}
		}()
		served += holdAgainstSlices(t, w, name, data, drawWish(t, data))
	})
	if served < 200 {
		t.Errorf("only %d batches were served: the draws are too narrow", served)
	}
}

// holdAgainstSlices serves a wish and returns how many batches it compared.
func holdAgainstSlices(t *rapid.T, w *world, name string, data *made, wish *wish) int {
	exist := wish.windows(data)
	r := wish.request(name, data)
	order, err := samplerOf(w, r, name)
	if err != nil {
		if p := w.refuse(t, r); len(exist) > 0 && p.Type != wire.NoWindows {
			t.Fatalf("refused: %v; the sampler said %v", p, err)
		}
		return 0
	}
	tr := w.attachAsWished(t, r, wish)
	if tr == nil {
		return 0
	}
	defer tr.close()
	return holdFeed(t, tr, order, wish, data, exist)
}

// attachAsWished attaches, or sees views refused for a reason and returns nil.
func (w *world) attachAsWished(t *rapid.T, r map[string]any, wish *wish) *trainer {
	tr, err := attachTo(w.path, r)
	if err != nil && wish.delivery == batch.View {
		if p := problemIn(t, err); p.Field != "delivery" ||
			!strings.Contains(p.Detail, "no view is possible: ") {
			t.Fatal(p)
		}
		return nil
	}
	return must(tr, err)(t)
}

func holdFeed(t *rapid.T, tr *trainer, order *sampler.Sampler, wish *wish, data *made,
	exist []place) int {
	if tr.Windows != int64(len(exist)) {
		t.Fatalf("%d windows, want %d: %v", tr.Windows, len(exist), exist)
	}
	check := &checker{T: t, trainer: tr, wish: wish, data: data, exist: exist}
	check.shapes()
	epoch, consumed := tr.Cursor.Epoch, tr.Cursor.Consumed
	for range 25 {
		if rapid.IntRange(0, 9).Draw(t, "seeks") == 0 {
			epoch = rapid.Uint64Range(0, 3).Draw(t, "epoch")
			consumed = aStep(t, order, epoch)
			tr.seek(t, epoch, consumed)
		}
		d := tr.batch(t)
		var want sampler.Batch
		left := order.Steps(epoch, consumed)
		if left == 0 {
			if d.Slot != wire.NoSlot || d.Flags != wire.FlagLast || d.Epoch != epoch {
				t.Fatalf("got %+v where nothing of epoch %d is left", d, epoch)
			}
			epoch, consumed = epoch+1, 0
			if order.Steps(epoch, 0) == 0 {
				break // and the daemon waits to be asked
			}
			continue
		}
		if err := order.Batch(&want, epoch, consumed); err != nil {
			t.Fatal(err)
		}
		check.descriptor(d, epoch, left == 1, order, want)
		check.hold(d, want)
		consumed = d.Consumed
		if left == 1 {
			epoch, consumed = epoch+1, 0
		}
	}
	check.release(0)
	return check.served
}

// samplerOf is a second sampler of the same order.
func samplerOf(w *world, r map[string]any, name string) (*sampler.Sampler, error) {
	h, err := w.store.Acquire(name, 0)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	var cuts []wire.Cut
	for _, c := range r["cuts"].([]any) {
		cuts = append(cuts, asJSON(c))
	}
	windows, err := plan.New(h, asJSON(r["spec"]), cuts)
	if err != nil {
		return nil, err
	}
	return sampler.New(windows.Index, r["options"].(sampler.Options))
}

// aStep is the beginning of some step of an epoch, or its end.
func aStep(t *rapid.T, s *sampler.Sampler, epoch uint64) (consumed int64) {
	var b sampler.Batch
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		if s.Batch(&b, epoch, consumed) != nil {
			break
		}
		consumed = b.Next
	}
	return consumed
}

// checker compares batches, late: a trainer may hold one while others are filled.
type checker struct {
	*rapid.T
	*trainer
	wish   *wish
	data   *made
	exist  []place
	held   []held
	served int
}

type held struct {
	slot    uint32
	windows []int64
	reset   []bool
}

// shapes holds the reply's parts against the wish.
func (c *checker) shapes() {
	c.Helper()
	want := c.wish.parts(c.data, c.exist[0])
	for name := range want {
		if c.part(name) == nil {
			c.Fatalf("part %q is missing", name)
		}
	}
	for _, p := range c.Parts {
		if _, ok := want[p.Name]; !ok &&
			(p.Name != "reset" || c.wish.options.Order != sampler.Lanes) {
			c.Fatalf("part %q was not asked for", p.Name)
		}
		if p.Offset%64 != 0 || p.Shape[0] != c.wish.options.BatchSize {
			c.Fatalf("part %q at %d of shape %v", p.Name, p.Offset, p.Shape)
		}
	}
	if c.wish.places() {
		return
	}
	features := int64(len(c.Features.Context))
	shape := []int64{c.wish.options.BatchSize, c.wish.c, features}
	if c.wish.first {
		shape[1], shape[2] = features, c.wish.c
	}
	if got := c.part("context").Shape; !slices.Equal(got, shape) {
		c.Fatalf("context of shape %v, want %v", got, shape)
	}
	if dtype := c.wish.dtype; dtype != "" && string(c.part("context").DType) != dtype {
		c.Fatalf("context of dtype %s, want %s", c.part("context").DType, dtype)
	}
}

func (c *checker) descriptor(d wire.Descriptor, epoch uint64, last bool, s *sampler.Sampler,
	want sampler.Batch) {
	c.Helper()
	next, flags := want.Next, uint32(0)
	if last {
		next, flags = s.End(epoch, want.Next), wire.FlagLast
	}
	if c.wish.delivery == batch.View && c.follow(want.Windows) {
		flags |= wire.FlagRun
	}
	wanted := wire.Descriptor{Slot: d.Slot, Rows: uint32(len(want.Windows)), Stream: c.stream,
		Flags: flags, Epoch: epoch, Consumed: next}
	if flags&wire.FlagRun != 0 {
		// which is compared with the rest of the slot
		wanted.Row = int64s(c.slot(d.Slot), c.part("row").Offset, 1)[0]
	}
	if d != wanted || int(d.Slot) >= c.Slots {
		c.Fatalf("got %+v, want %+v", d, wanted)
	}
}

// follow tells whether windows are neighbours in one item, a stride apart.
func (c *checker) follow(windows []int64) bool {
	for i, number := range windows[1:] {
		a, b := c.exist[windows[i]], c.exist[number]
		if a.item != b.item || a.start+c.wish.stride != b.start {
			return false
		}
	}
	return true
}

// hold keeps a batch for a while: it is compared when its slot goes back.
func (c *checker) hold(d wire.Descriptor, want sampler.Batch) {
	for _, h := range c.held {
		if h.slot == d.Slot {
			c.Fatalf("slot %d came twice", d.Slot)
		}
	}
	c.held = append(c.held, held{d.Slot, want.Windows, slices.Clone(want.Reset)})
	c.release(rapid.IntRange(0, c.Slots-1).Draw(c.T, "held"))
}

// release compares and gives back, in any order, until so many are held.
func (c *checker) release(most int) {
	var slots []uint32
	for len(c.held) > most {
		i := rapid.IntRange(0, len(c.held)-1).Draw(c.T, "given back")
		c.compare(c.held[i])
		slots = append(slots, c.held[i].slot)
		c.held = slices.Delete(c.held, i, i+1)
	}
	for i := range slots { // what a trainer writes harms nobody
		clear(c.slot(slots[i]))
	}
	if len(slots) > 0 {
		c.credit(c.T, slots...)
	}
}

func (c *checker) compare(h held) {
	c.Helper()
	c.served++
	written := h.windows
	if c.wish.delivery == batch.View && c.follow(written) {
		written = written[:1]
	}
	for i, number := range written {
		at := c.exist[number]
		for name, want := range c.wish.parts(c.data, at) {
			if got := c.read(h.slot, *c.part(name), int64(i)); !sameValues(got, want) {
				c.Fatalf("window %d (%+v), part %q:\ngot  %v\nwant %v", number, at, name, got, want)
			}
		}
		if p := c.part("reset"); p != nil {
			if got := c.read(h.slot, *p, int64(i)); got[0] != flag01(h.reset[i]) {
				c.Fatalf("window %d: reset %v, want %v", number, got[0], h.reset[i])
			}
		}
	}
}
