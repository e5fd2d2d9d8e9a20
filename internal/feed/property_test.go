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

// TestEveryBatchEqualsTheOracle draws datasets, specs, orders and ranks, and compares every part of
// every batch with an oracle that reads one cell at a time.
func TestEveryBatchEqualsTheOracle(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	n := 0
	served := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		name := fmt.Sprintf("d%d", n)
		data := drawDataset(t)
		data.publish(t, env, name)
		defer func() {
			if _, err := env.store.Remove(name); err != nil {
				t.Fatal(err)
			}
		}()
		drawn := drawFeed(t, data)
		drawn.drawParts(t, data)
		served += compareWithOracle(t, env, name, data, drawn)
	})
	if served < 200 {
		t.Errorf("only %d batches were served: the draws are too narrow", served)
	}
}

// compareWithOracle attaches a feed and returns how many batches it compared.
func compareWithOracle(t *rapid.T, env *testEnv, name string, data *drawnDataset,
	drawn *drawnFeed) int {
	exist := drawn.windows(data)
	r := drawn.request(name, data)
	order, err := samplerOf(env, r, name, grouped{groups: drawn.groups(data, exist)})
	if err != nil {
		if p := env.refuse(t, r); len(exist) > 0 && p.Type != wire.NoWindows {
			t.Fatalf("refused: %v; the sampler said %v", p, err)
		}
		return 0
	}
	tr := env.attachDrawn(t, r, drawn)
	if tr == nil {
		return 0
	}
	defer tr.close()
	return compareFeed(t, tr, order, drawn, data, exist)
}

// attachDrawn attaches a feed. It returns nil if views are refused with a reason.
func (env *testEnv) attachDrawn(t *rapid.T, r map[string]any, drawn *drawnFeed) *trainer {
	tr, err := attachTo(env.path, r)
	if err != nil && drawn.delivery == batch.View {
		if p := problemIn(t, err); p.Field != "delivery" ||
			!strings.Contains(p.Detail, "no view is possible: ") {
			t.Fatal(p)
		}
		return nil
	}
	return must(tr, err)(t)
}

func compareFeed(t *rapid.T, tr *trainer, order *sampler.Sampler, drawn *drawnFeed,
	data *drawnDataset, exist []place) int {
	if tr.Windows != int64(len(exist)) {
		t.Fatalf("%d windows, want %d: %v", tr.Windows, len(exist), exist)
	}
	check := &checker{T: t, trainer: tr, drawn: drawn, data: data, exist: exist,
		largest: order.LargestBatch()}
	check.checkParts()
	epoch, consumed := tr.Cursor.Epoch, tr.Cursor.Consumed
	for range 25 {
		if rapid.IntRange(0, 9).Draw(t, "seeks") == 0 {
			epoch = rapid.Uint64Range(0, 3).Draw(t, "epoch")
			consumed = drawStep(t, order, epoch)
			tr.seek(t, epoch, consumed)
		}
		d := tr.batch(t)
		var want sampler.Batch
		left := order.Steps(epoch, consumed)
		if left == 0 {
			if d.Slot != wire.NoSlot || d.Flags != wire.FlagLast || d.Epoch != epoch {
				t.Fatalf("got %+v, but no batch of epoch %d is left", d, epoch)
			}
			epoch, consumed = epoch+1, 0
			if order.Steps(epoch, 0) == 0 {
				break // the daemon waits for a seek
			}
			continue
		}
		if err := order.Batch(&want, epoch, consumed); err != nil {
			t.Fatal(err)
		}
		check.descriptor(d, epoch, left == 1, order, want)
		check.keep(d, want)
		consumed = d.Consumed
		if left == 1 {
			epoch, consumed = epoch+1, 0
		}
	}
	check.release(0)
	return check.served
}

// samplerOf returns a second sampler with the order of the request. g has the groups alone.
func samplerOf(env *testEnv, r map[string]any, name string, g grouped) (*sampler.Sampler, error) {
	h, err := env.store.Acquire(name, 0)
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
	g.Index = windows.Index
	return sampler.New(g, r["options"].(sampler.Options))
}

// drawStep returns the cursor before a random step of an epoch, or at its end.
func drawStep(t *rapid.T, s *sampler.Sampler, epoch uint64) (consumed int64) {
	var b sampler.Batch
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		if s.Batch(&b, epoch, consumed) != nil {
			break
		}
		consumed = b.Next
	}
	return consumed
}

// checker compares batches with some delay, because a trainer may use one while others are filled.
type checker struct {
	*rapid.T
	*trainer
	drawn   *drawnFeed
	data    *drawnDataset
	exist   []place
	largest int64 // windows of the largest batch
	pending []pendingBatch
	served  int
}

type pendingBatch struct {
	slot    uint32
	windows []int64
	reset   []bool
}

// checkParts compares the parts of the reply with the request.
func (c *checker) checkParts() {
	c.Helper()
	want := c.drawn.parts(c.data, c.exist[0])
	for name := range want {
		if c.part(name) == nil {
			c.Fatalf("part %q is missing", name)
		}
	}
	for _, p := range c.Parts {
		if _, ok := want[p.Name]; !ok &&
			(p.Name != "reset" || c.drawn.options.Order != sampler.Lanes) {
			c.Fatalf("part %q was not asked for", p.Name)
		}
		if p.Offset%64 != 0 || p.Shape[0] != c.largest {
			c.Fatalf("part %q at %d of shape %v", p.Name, p.Offset, p.Shape)
		}
	}
	if c.drawn.hasPlacesOnly() {
		return
	}
	if c.drawn.asked != nil {
		c.checkAsked()
		return
	}
	features := int64(len(c.Features.Context))
	shape := []int64{c.largest, c.drawn.c, features}
	if c.drawn.first {
		shape[1], shape[2] = features, c.drawn.c
	}
	if got := c.part("context").Shape; !slices.Equal(got, shape) {
		c.Fatalf("context of shape %v, want %v", got, shape)
	}
	if dtype := c.drawn.dtype; dtype != "" && string(c.part("context").DType) != dtype {
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
	if c.drawn.delivery == batch.View && c.areConsecutive(want.Windows) {
		flags |= wire.FlagRun
	}
	wanted := wire.Descriptor{Slot: d.Slot, Rows: uint32(len(want.Windows)), Stream: c.stream,
		Flags: flags, Epoch: epoch, Consumed: next}
	if flags&wire.FlagRun != 0 {
		// The row of the slot is compared later.
		wanted.Row = int64s(c.slot(d.Slot), c.part("row").Offset, 1)[0]
	}
	if d != wanted || int(d.Slot) >= c.Slots {
		c.Fatalf("got %+v, want %+v", d, wanted)
	}
}

// areConsecutive reports whether windows are a stride apart in one item.
func (c *checker) areConsecutive(windows []int64) bool {
	for i, number := range windows[1:] {
		a, b := c.exist[windows[i]], c.exist[number]
		if a.item != b.item || a.start+c.drawn.stride != b.start {
			return false
		}
	}
	return true
}

// keep stores a batch until its slot is released.
func (c *checker) keep(d wire.Descriptor, want sampler.Batch) {
	for _, h := range c.pending {
		if h.slot == d.Slot {
			c.Fatalf("slot %d came twice", d.Slot)
		}
	}
	c.pending = append(c.pending, pendingBatch{d.Slot, want.Windows, slices.Clone(want.Reset)})
	c.release(rapid.IntRange(0, c.Slots-1).Draw(c.T, "held"))
}

// release compares and releases batches, in any order, until only limit of them are left.
func (c *checker) release(limit int) {
	var slots []uint32
	for len(c.pending) > limit {
		i := rapid.IntRange(0, len(c.pending)-1).Draw(c.T, "given back")
		c.compare(c.pending[i])
		slots = append(slots, c.pending[i].slot)
		c.pending = slices.Delete(c.pending, i, i+1)
	}
	for i := range slots { // a trainer may write to its slots
		clear(c.slot(slots[i]))
	}
	if len(slots) > 0 {
		c.credit(c.T, slots...)
	}
}

func (c *checker) compare(h pendingBatch) {
	c.Helper()
	c.served++
	written := h.windows
	if c.drawn.delivery == batch.View && c.areConsecutive(written) {
		written = written[:1]
	}
	for i, number := range written {
		at := c.exist[number]
		for name, want := range c.drawn.parts(c.data, at) {
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
