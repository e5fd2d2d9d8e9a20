package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// shelf is a file whose pages come when they are asked for.
type shelf struct {
	all       bool // it is in memory
	looks     int
	asked     [][2]int64 // offset and size, of WillNeed
	waited    map[int64]bool
	scattered int
}

func (s *shelf) Resident(int64) bool { s.looks++; return s.all }

func (s *shelf) WillNeed(offset, n int64) { s.asked = append(s.asked, [2]int64{offset, n}) }

func (s *shelf) Populate(offset, n int64) {
	for i := range n {
		s.waited[offset+i] = true
	}
}

func (s *shelf) Scattered() func() { s.scattered++; return func() { s.scattered-- } }

func (s *shelf) IsScattered() bool { return s.scattered > 0 }

// asking is an asker over windows of a dataset, and what it asks.
func asking(t *testing.T, w *world, dataset string,
	change ...func(map[string]any)) (*asker, *shelf) {
	t.Helper()
	var r wire.FeedRequest
	if err := json.Unmarshal(asJSON(request(dataset, change...)), &r); err != nil {
		t.Fatal(err)
	}
	h := must(w.store.Acquire(dataset, 0))(t)
	t.Cleanup(h.Release)
	windows := must(NewWindows(h, r.Spec, r.Cuts))(t)
	s := &shelf{waited: map[int64]bool{}}
	return newAsker(s, windows, must(sampler.New(windows.Index, r.Options))(t).Options(),
		r.Delivery), s
}

// bytesOf are the places in the file of all that a batch holds, one value after the other.
func bytesOf(w *Windows, b *sampler.Batch) (out []int64) {
	spec := w.Index.Spec()
	for name, columns := range w.chosen.parts() {
		for _, number := range b.Windows {
			p := w.Index.Place(number)
			first, end := w.table.Offsets[p.Item], w.table.Offsets[p.Item+1]
			for i := range partLengths(spec)[name] {
				row := first + p.Start + (partFirst(spec)[name]+i)*max(spec.Dilation, 1)
				for _, c := range columns {
					if at := c.Offset + row*c.Strides[0]; row >= first && row < end {
						out = append(out, at, at+max(c.Width(), 1)*c.DType.Size()-1)
					}
				}
			}
		}
	}
	return out
}

func TestColdBatchesAreAskedForAheadAndWaitedFor(t *testing.T) {
	w := newWorld(t, roomy)
	w.patchwork(t)
	w.twoItems(t)
	packed := &made{layout: layout.Packed, rows: []int64{300}, values: map[string][][]float64{}}
	for _, name := range []string{"a", "b", "c"} {
		packed.columns = append(packed.columns, layout.Column{Name: name, Role: layout.RoleValue,
			DType: layout.Float32})
		for i := range 300 {
			packed.values[name] = append(packed.values[name], []float64{float64(i)})
		}
	}
	packed.publish(t, w, "packed")
	w.series(t, "d", 100_000)
	for name, test := range map[string]struct {
		dataset string
		change  []func(map[string]any)
	}{
		"columns": {"patchwork", c(spec("columns", []string{"c", "d"}))},
		"shuffle": {"patchwork",
			c(spec("columns", []string{"c", "b"}), options("order", "shuffle", "batch_size", 3))},
		"packed": {"packed", c(options("order", "random_start"))},
		"far target": {"packed",
			c(spec("gap", 30, "context_columns", []string{"c"}, "target_columns", []string{"a"}))},
		"dilation": {"packed", c(spec("dilation", 3, "context_columns", []string{"b", "c"}))},
		"padding":  {"named", c(spec("columns", []string{"close"}, "min_context", 0))},
		"known": {"patchwork",
			c(spec("columns", []string{"c"}, "known_columns", []string{"d"}, "gap", 2))},
		"far apart":  {"d", c(spec("stride", 1000))},
		"one of two": {"packed", c(options("num_replicas", 2))},
		"last of many": {"packed",
			c(options("order", "shuffle", "batch_size", 7, "num_replicas", 3, "rank", 2,
				"tail", "short"))},
	} {
		t.Run(name, func(t *testing.T) {
			a, s := asking(t, w, test.dataset, test.change...)
			if name == "known" { // another feed, in whose order nothing lies beside the other
				s.scattered++
			}
			// the system reads on
			onward := slices.Contains(
				[]string{"columns", "far target", "dilation", "padding"}, name)
			order := must(sampler.New(a.windows.Index, a.options))(t)
			var b sampler.Batch
			epoch, consumed := uint64(3), int64(0)
			for n := range 100 {
				left := order.Steps(epoch, consumed)
				if left == 0 {
					t.Fatal("no batch")
				}
				if err := order.Batch(&b, epoch, consumed); err != nil {
					t.Fatal(err)
				}
				if n%4 == 0 {
					if err := a.look(&b, epoch, consumed); err != nil {
						t.Fatal(err)
					}
				}
				clear(s.waited)
				if err := a.next(&b); err != nil {
					t.Fatal(err)
				}
				if a.ahead != a.most-1 {
					t.Fatalf("%d batches are asked for ahead, want %d", a.ahead, a.most-1)
				}
				asked := func(at int64) bool {
					return slices.ContainsFunc(s.asked, func(r [2]int64) bool {
						return at >= r[0] &&
							at < r[0]+r[1]
					})
				}
				for _, at := range bytesOf(a.windows, &b) {
					if !s.waited[at] || asked(at) == onward {
						t.Fatalf("batch %d reads byte %d: asked for %t, waited for %t", n, at,
							asked(at), s.waited[at])
					}
				}
				if consumed = b.Next; left == 1 {
					epoch, consumed = epoch+1, 0
				}
			}
			if s.IsScattered() == onward {
				t.Errorf("the system is left to read what lies around: %t, want %t",
					!s.IsScattered(), onward)
			}
			if name == "known" {
				s.scattered--
			}
			a.forget()
			if a.forget(); s.scattered != 0 || a.cold {
				t.Error("asking does not end")
			}
		})
	}
}

func TestWhatIsInMemoryCostsOneLookABurst(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	a, s := asking(t, w, "d", options("order", "random_start"))
	order := must(sampler.New(a.windows.Index, a.options))(t)
	var b sampler.Batch
	play := func(bursts int) {
		t.Helper()
		var consumed int64
		for i := range 16 * bursts {
			if err := order.Batch(&b, 0, consumed); err != nil {
				t.Fatal(err)
			}
			if i%16 == 0 {
				if err := a.look(&b, 0, consumed); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.next(&b); err != nil {
				t.Fatal(err)
			}
			consumed = b.Next
		}
	}
	s.all = true
	if play(100); s.looks != 100 || len(s.asked) > 0 {
		t.Errorf("%d looks and %d pages asked for in 100 bursts", s.looks, len(s.asked))
	}
	s.all = false
	play(1)
	batches := len(s.asked) // of columns a and b
	if s.all = true; fmt.Sprint(a.cold, batches) != fmt.Sprint(true, 2*(a.most+15)) {
		t.Errorf("cold %t after %d ranges, want %d: two columns of each batch", a.cold, batches,
			2*(a.most+15))
	}
	play(warmPages/16 + 1)
	if a.cold || s.scattered != 0 {
		t.Error("asking goes on though all is in memory")
	}
}

// gaps is a file of which some pages are not in memory, by the numbers of the looks at them.
type gaps struct {
	shelf
	missing func(look int) bool
}

func (g *gaps) Resident(int64) bool { g.looks++; return !g.missing(g.looks) }

func TestOnePageThatIsMissingMakesNoFeedAskForAllOthers(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	a, _ := asking(t, w, "d", options("order", "shuffle", "batch_size", 256))
	var b sampler.Batch
	if err := must(sampler.New(a.windows.Index, a.options))(t).Batch(&b, 0, 0); err != nil {
		t.Fatal(err)
	}
	look := func(missing func(int) bool) *gaps {
		t.Helper()
		g := &gaps{shelf{waited: map[int64]bool{}}, missing}
		a.pages = g
		if err := a.look(&b, 0, 0); err != nil {
			t.Fatal(err)
		}
		return g
	}
	if g := look(func(n int) bool { return n == 1 }); a.cold || g.looks != 1+coldLooks {
		t.Errorf("cold %t after %d looks, want %d", a.cold, g.looks, 1+coldLooks)
	}
	if look(func(n int) bool { return n == 1 || n == 40 }); !a.cold {
		t.Fatal("two pages are missing, and nothing is asked for")
	}
	g := look(func(int) bool { return false })
	for batches := 1; a.cold; batches++ {
		if err := a.next(&b); err != nil {
			t.Fatal(err)
		}
		if batches > warmPages {
			t.Fatal("asking goes on though all is in memory")
		}
	}
	if most := max(warmPages, warmLooks*int(a.most)); g.looks > most {
		t.Errorf("%d looks until all was known to be in memory, want at most %d", g.looks, most)
	}
}

func TestRowsBetweenWindowsThatLieFarApartAreNotAskedFor(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	for _, order := range []string{"sequential", "random_start"} {
		a, s := asking(t, w, "d", spec("stride", 1000), options("order", order))
		var b sampler.Batch
		if err := must(sampler.New(a.windows.Index, a.options))(t).Batch(&b, 0, 0); err != nil {
			t.Fatal(err)
		}
		a.each(&b, s.WillNeed)
		var bytes int64
		for _, r := range s.asked {
			bytes += r[1]
		}
		if read := int64(len(b.Windows)) * 6 * 8 * 2; bytes < read || bytes > 2*read {
			t.Errorf("order %s: %d bytes are asked for, %d are read", order, bytes, read)
		}
	}
}
