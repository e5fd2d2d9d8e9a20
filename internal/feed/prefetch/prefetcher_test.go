package prefetch

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
)

// fakeFile is a file whose pages come into memory when they are asked for.
type fakeFile struct {
	all      bool // all pages are in memory
	checks   int
	asked    [][2]int64 // offset and size, of WillNeed
	waited   map[int64]bool
	disabled int
}

func (s *fakeFile) Resident(int64) bool { s.checks++; return s.all }

func (s *fakeFile) WillNeed(offset, n int64) { s.asked = append(s.asked, [2]int64{offset, n}) }

func (s *fakeFile) Populate(offset, n int64) {
	for i := range n {
		s.waited[offset+i] = true
	}
}

func (s *fakeFile) DisableReadAhead() func() { s.disabled++; return func() { s.disabled-- } }

func (s *fakeFile) IsReadAheadOff() bool { return s.disabled > 0 }

// publish publishes the datasets of the tests: "patchwork" of two items with a float64 column b
// among float32 columns a, c and d; "packed" of float32 columns a, b and c; "padded" of two items;
// and "long" of two float64 columns.
func publish(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for name, d := range map[string]struct {
		kind    string
		offsets []int64
		dtypes  []layout.DType
	}{
		"patchwork": {layout.Columns, []int64{0, 40, 60},
			[]layout.DType{layout.Float32, layout.Float64, layout.Float32, layout.Float32}},
		"packed": {layout.Packed, []int64{0, 300},
			[]layout.DType{layout.Float32, layout.Float32, layout.Float32}},
		"padded": {layout.Columns, []int64{0, 20, 40},
			[]layout.DType{layout.Float32, layout.Int32}},
		"long": {layout.Columns, []int64{0, 100_000},
			[]layout.DType{layout.Float64, layout.Float64}},
	} {
		table := layout.Table{Layout: d.kind, Rows: d.offsets[len(d.offsets)-1]}
		for i, dtype := range d.dtypes {
			table.Columns = append(table.Columns, layout.Column{Name: string(rune('a' + i)),
				Role: layout.RoleValue, DType: dtype})
		}
		items := layout.Items{Offsets: d.offsets}
		if n := len(d.offsets) - 1; n > 1 {
			table.Columns = append(table.Columns,
				layout.Column{Name: "id", Role: layout.RoleItemID, DType: layout.Int64})
			items.Values = []layout.ItemValues{{Name: "id", Ints: []int64{1, 2}}}
		}
		final := layout.Final{Items: items}
		if items.Values != nil {
			final.ItemID = []string{"id"}
		}
		storetest.Publish(t, s, name, table, final, func(*layout.Writer) {})
	}
	return s
}

// pairs are the fields of a spec or of options: names, each followed by a value.
type pairs []any

func (p pairs) json(defaults map[string]any) json.RawMessage {
	for i := 0; i < len(p); i += 2 {
		defaults[p[i].(string)] = p[i+1]
	}
	b, err := json.Marshal(defaults)
	if err != nil {
		panic(err)
	}
	return b
}

// open returns a prefetcher of windows of a dataset, and its file. Windows have 4 + 2 rows and
// batches 8 windows, unless the fields say otherwise.
func open(t *testing.T, s *store.Store, dataset string, spec,
	options pairs) (*Prefetcher, *fakeFile) {
	t.Helper()
	var o sampler.Options
	if err := json.Unmarshal(options.json(map[string]any{"batch_size": 8}), &o); err != nil {
		t.Fatal(err)
	}
	h, err := s.Acquire(dataset, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	w, err := plan.New(h, spec.json(map[string]any{"context_length": 4, "prediction_length": 2}),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	file := &fakeFile{waited: map[int64]bool{}}
	return New(file, w, newSampler(t, w, o), Daemon), file
}

func newSampler(t *testing.T, w *plan.Windows, o sampler.Options) *sampler.Sampler {
	t.Helper()
	s, err := sampler.New(w.Index, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bytesOf returns where in the file the values of a batch are: the first and the last byte of each.
func bytesOf(w *plan.Windows, b *sampler.Batch) (out []int64) {
	dilation := max(w.Index.Spec().Dilation, 1)
	for _, part := range w.Parts() {
		for _, number := range b.Windows {
			p := w.Index.Place(number)
			first, end := w.Offsets[p.Item], w.Offsets[p.Item+1]
			for i := range part.Length {
				row := first + p.Start + (part.First+i)*dilation
				for _, c := range part.Columns {
					if at := c.Offset + row*c.Strides[0]; row >= first && row < end {
						out = append(out, at, at+max(c.Width(), 1)*c.DType.Size()-1)
					}
				}
			}
		}
	}
	return out
}

func TestColdBatchesArePrefetchedAndAwaited(t *testing.T) {
	s := publish(t)
	for name, test := range map[string]struct {
		dataset       string
		spec, options pairs
	}{
		"columns": {"patchwork", pairs{"columns", []string{"c", "d"}}, nil},
		"shuffle": {"patchwork", pairs{"columns", []string{"c", "b"}},
			pairs{"order", "shuffle", "batch_size", 3}},
		"packed": {"packed", nil, pairs{"order", "random_start"}},
		"far target": {"packed", pairs{"gap", 30, "context_columns", []string{"c"},
			"target_columns", []string{"a"}}, nil},
		"dilation": {"packed", pairs{"dilation", 3, "context_columns", []string{"b", "c"}}, nil},
		"padding":  {"padded", pairs{"columns", []string{"a"}, "min_context", 0}, nil},
		"known": {"patchwork", pairs{"columns", []string{"c"}, "known_columns", []string{"d"},
			"gap", 2}, nil},
		"far apart":  {"long", pairs{"stride", 1000}, nil},
		"one of two": {"packed", nil, pairs{"num_replicas", 2}},
		"last of many": {"packed", nil, pairs{"order", "shuffle", "batch_size", 7, "num_replicas",
			3, "rank", 2, "tail", "short"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, file := open(t, s, test.dataset, test.spec, test.options)
			if name == "known" { // another feed, whose windows are scattered
				file.disabled++
			}
			// the system reads ahead
			sequential := slices.Contains(
				[]string{"columns", "far target", "dilation", "padding"}, name)
			order := p.order.Clone()
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
					p.Check(&b, epoch, consumed)
				}
				clear(file.waited)
				if err := p.Await(&b); err != nil {
					t.Fatal(err)
				}
				if p.ahead != p.maxAhead-1 {
					t.Fatalf("%d batches are asked for ahead, want %d", p.ahead, p.maxAhead-1)
				}
				asked := func(at int64) bool {
					return slices.ContainsFunc(file.asked, func(r [2]int64) bool {
						return at >= r[0] &&
							at < r[0]+r[1]
					})
				}
				for _, at := range bytesOf(p.windows, &b) {
					if !file.waited[at] || asked(at) == sequential {
						t.Fatalf("batch %d reads byte %d: asked for %t, waited for %t", n, at,
							asked(at), file.waited[at])
					}
				}
				if consumed = b.Next; left == 1 {
					epoch, consumed = epoch+1, 0
				}
			}
			if file.IsReadAheadOff() == sequential {
				t.Errorf("the system may read ahead: %t, want %t",
					!file.IsReadAheadOff(), sequential)
			}
			if name == "known" {
				file.disabled--
			}
			p.Stop()
			if p.Stop(); file.disabled != 0 || p.cold {
				t.Error("prefetching does not end")
			}
		})
	}
}

func TestDataInMemoryCostsOneCheckABurst(t *testing.T) {
	s := publish(t)
	p, file := open(t, s, "long", nil, pairs{"order", "random_start"})
	order := p.order.Clone()
	var b sampler.Batch
	play := func(bursts int) {
		t.Helper()
		var consumed int64
		for i := range 16 * bursts {
			if err := order.Batch(&b, 0, consumed); err != nil {
				t.Fatal(err)
			}
			if i%16 == 0 {
				p.Check(&b, 0, consumed)
			}
			if err := p.Await(&b); err != nil {
				t.Fatal(err)
			}
			consumed = b.Next
		}
	}
	file.all = true
	if play(100); file.checks != 100 || len(file.asked) > 0 {
		t.Errorf("%d checks and %d pages asked for in 100 bursts", file.checks, len(file.asked))
	}
	file.all = false
	play(1)
	batches := len(file.asked) // of columns a and b
	if file.all = true; fmt.Sprint(p.cold, batches) != fmt.Sprint(true, 2*(p.maxAhead+15)) {
		t.Errorf("cold %t after %d ranges, want %d: two columns of each batch", p.cold, batches,
			2*(p.maxAhead+15))
	}
	play(warmPages/16 + 1)
	if p.cold || file.disabled != 0 {
		t.Error("prefetching goes on although all is in memory")
	}
}

// fileWithGaps is a file of which some pages are not in memory, by the number of the check.
type fileWithGaps struct {
	fakeFile
	missing func(look int) bool
}

func (g *fileWithGaps) Resident(int64) bool { g.checks++; return !g.missing(g.checks) }

func TestASingleMissDoesNotStartPrefetching(t *testing.T) {
	s := publish(t)
	p, _ := open(t, s, "long", nil, pairs{"order", "shuffle", "batch_size", 256})
	var b sampler.Batch
	if err := p.order.Clone().Batch(&b, 0, 0); err != nil {
		t.Fatal(err)
	}
	look := func(missing func(int) bool) *fileWithGaps {
		t.Helper()
		g := &fileWithGaps{fakeFile{waited: map[int64]bool{}}, missing}
		p.pages = g
		p.Check(&b, 0, 0)
		return g
	}
	if g := look(func(n int) bool { return n == 1 }); p.cold || g.checks != 1+coldChecks {
		t.Errorf("cold %t after %d checks, want %d", p.cold, g.checks, 1+coldChecks)
	}
	if look(func(n int) bool { return n == 1 || n == 40 }); !p.cold {
		t.Fatal("two pages are missing, and nothing is asked for")
	}
	g := look(func(int) bool { return false })
	for batches := 1; p.cold; batches++ {
		if err := p.Await(&b); err != nil {
			t.Fatal(err)
		}
		if batches > warmPages {
			t.Fatal("prefetching goes on although all is in memory")
		}
	}
	if most := max(warmPages, warmChecks*int(p.maxAhead)); g.checks > most {
		t.Errorf("%d checks until all was known to be in memory, want at most %d", g.checks, most)
	}
}

func TestRowsBetweenDistantWindowsAreNotPrefetched(t *testing.T) {
	s := publish(t)
	for _, order := range []string{"sequential", "random_start"} {
		p, file := open(t, s, "long", pairs{"stride", 1000}, pairs{"order", order})
		var b sampler.Batch
		if err := p.order.Clone().Batch(&b, 0, 0); err != nil {
			t.Fatal(err)
		}
		p.eachRange(&b, file.WillNeed)
		var bytes int64
		for _, r := range file.asked {
			bytes += r[1]
		}
		if read := int64(len(b.Windows)) * 6 * 8 * 2; bytes < read || bytes > 2*read {
			t.Errorf("order %s: %d bytes are asked for, %d are read", order, bytes, read)
		}
	}
}
