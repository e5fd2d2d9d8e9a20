package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// watch is a context, and a connection, that looks how far a load is whenever the load looks at them.
type watch struct {
	context.Context
	io.Reader
	meter *meter
	mu    sync.Mutex
	seen  []Progress
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, w.meter.read())
}

func (w *watch) Err() error {
	w.look()
	return w.Context.Err()
}

func (w *watch) Read(p []byte) (int, error) {
	w.look()
	return w.Reader.Read(p)
}

// steps counts the different shares that were seen in a phase.
func (w *watch) steps(phase string) int {
	shares := map[float64]bool{}
	for _, p := range w.seen {
		if p.Phase == phase && p.Share > 0 {
			shares[p.Share] = true
		}
	}
	return len(shares)
}

// TestALoadMovesOnInEveryPhaseThatTakesLong looks in from within, where the time goes.
func TestALoadMovesOnInEveryPhaseThatTakesLong(t *testing.T) {
	var text strings.Builder
	text.WriteString("i,t,a,b,c,d\n")
	for i := range 4000 {
		fmt.Fprintf(&text, "%d,%d,%d.5,1.5,2.5,%d.25\n", i%7, (i*7919)%4000, i, i%3)
	}
	path := source(t, "a.csv", text.String())
	keyed := func(o Options) Options {
		o.ItemID, o.Time = []string{"i"}, "t"
		return o
	}
	many, values := columnBytes(t, "a", "float64", []int64{1000}, make([]float64, 1000))
	put := Put{Format: FormatColumns, Columns: []PutColumn{many, many, many}}
	for i, name := range []string{"a", "b", "c"} {
		put.Columns[i].Name = name
	}
	for name, c := range map[string]struct {
		Job
		moves map[string]int // at least so many steps of a phase
	}{
		"sort":                 {Job{Options: keyed(Options{Sort: true})}, map[string]int{phaseArrange: 6}},
		"sort and merge":       {Job{Options: Options{Time: "i", Sort: true, Duplicates: "mean", Columns: []string{"a", "b"}}}, map[string]int{phaseArrange: 3}},
		"items that are kept":  {Job{Options: keyed(Options{Sort: true, ItemBucket: "0/2"})}, map[string]int{phaseArrange: 6}},
		"steps of each column": {Job{Options: Options{Scale: All(scaleRobust)}}, map[string]int{phaseScale: 2}},
		"series of two files":  {Job{Options: Options{Melt: true, Sources: []string{source(t, "a.csv", "a\n"+strings.Repeat("1\n", 4000)), source(t, "b.csv", "a,b,c,d\n1,1,1,1\n")}}}, nil},
		"a put":                {Job{Put: &put}, map[string]int{phaseRead: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			j, m := c.Job, &meter{}
			if j.Dir = t.TempDir(); j.Put == nil && j.Sources == nil {
				j.Sources = []string{path}
			}
			w := &watch{Context: t.Context(), Reader: bytes.NewReader(bytes.Repeat(values, 3)), meter: m}
			if _, err := j.load(w, w, m); err != nil {
				t.Fatal(err)
			}
			for phase, least := range c.moves {
				if n := w.steps(phase); n < least {
					t.Errorf("%s: %d steps, want at least %d of %+v", phase, n, least, w.seen)
				}
			}
			for i, p := range w.seen {
				if p.RowsTotal > 0 && p.Rows > p.RowsTotal || i > 0 && p.Share < w.seen[i-1].Share {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestThePlanCostsWhatIsAskedFor holds the shares of phases to the options and to the columns that are wanted.
func TestThePlanCostsWhatIsAskedFor(t *testing.T) {
	path := source(t, "a.csv", "t,a,b,c,d\n"+strings.Repeat("2,1.5,1.5,1.5,1.5\n1,1.5,1.5,1.5,1.5\n", 50))
	cost := func(o Options, phase string) (of, all float64) {
		o.Sources, o.Time = []string{path}, "t"
		if !o.Sort {
			o.Time = ""
		}
		m := &meter{}
		w := &watch{Context: t.Context(), meter: m}
		if _, err := (Job{Dir: t.TempDir(), Options: o}).load(w, nil, m); err != nil {
			t.Fatal(err)
		}
		for _, c := range *m.plan.Load() {
			if all += c.cost; c.phase == phase {
				of = c.cost
			}
		}
		return of, all
	}
	if of, all := cost(Options{Sort: true, Duplicates: "first"}, phaseArrange); of < all/2 {
		t.Errorf("sorting is %v of %v", of, all)
	}
	if of, _ := cost(Options{}, phaseArrange); of != 0 {
		t.Errorf("rows that stay where they are cost %v to arrange", of)
	}
	one, _ := cost(Options{Log1p: ByColumn(map[string]bool{"a": true})}, phaseScale)
	if four, _ := cost(Options{Log1p: ByColumn(map[string]bool{"a": true, "b": true, "c": true, "d": true})}, phaseScale); one == 0 || four != 4*one {
		t.Errorf("one column costs %v, four %v", one, four)
	}
	of, _ := cost(Options{Columns: []string{"a"}}, phaseFinish)
	if all, _ := cost(Options{}, phaseFinish); of != all/5 {
		t.Errorf("one column of five costs %v of %v", of, all)
	}
}

// TestUnpackingTellsOfEveryByte counts those of the file.
func TestUnpackingTellsOfEveryByte(t *testing.T) {
	for _, suffix := range []string{".gz", ".zst"} {
		packed := packed(t, suffix, "a,b\n"+strings.Repeat("1.5,2.5\n", 100_000))
		var told, times int64
		w := work{workers: 1, block: blockBytes, dir: t.TempDir(), text: defaultDialect, free: unpackFree, ratio: unpackRatio, unpacked: func(n int64) { told, times = told+n, times+1 }}
		r, err := open(source(t, "a.csv"+suffix, packed), w)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
		if told != int64(len(packed)) {
			t.Errorf("%s: told of %d bytes of %d, in %d times", suffix, told, len(packed), times)
		}
	}
}
