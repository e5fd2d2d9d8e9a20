package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// progressProbe is a context and a connection. It records the progress of a load whenever the load
// checks the context or reads from the connection.
type progressProbe struct {
	context.Context
	io.Reader
	meter    *progress.Meter
	mu       sync.Mutex
	recorded []progress.Progress
}

func (w *progressProbe) record() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorded = append(w.recorded, w.meter.Progress())
}

func (w *progressProbe) Err() error {
	w.record()
	return w.Context.Err()
}

func (w *progressProbe) Read(p []byte) (int, error) {
	w.record()
	return w.Reader.Read(p)
}

// steps returns the number of different shares that were recorded in a phase.
func (w *progressProbe) steps(phase string) int {
	shares := map[float64]bool{}
	for _, p := range w.recorded {
		if p.Phase == phase && p.Share > 0 {
			shares[p.Share] = true
		}
	}
	return len(shares)
}

// TestLongPhasesReportProgress records the progress inside of loads. A phase that takes long must
// report several steps, and the progress must not decrease.
func TestLongPhasesReportProgress(t *testing.T) {
	var text strings.Builder
	text.WriteString("i,t,a,b,c,d\n")
	for i := range 4000 {
		fmt.Fprintf(&text, "%d,%d,%d.5,1.5,2.5,%d.25\n", i%7, (i*7919)%4000, i, i%3)
	}
	path := loadtest.File(t, "a.csv", text.String())
	all := 1.0
	keyed := func(o option.Options) option.Options {
		o.ItemID, o.Time = []string{"i"}, "t"
		return o
	}
	many, values := puttest.ColumnBytes(t, "a", "float64", []int64{1000}, make([]float64, 1000))
	put := put.Header{Format: put.FormatColumns, Columns: []put.Column{many, many, many}}
	for i, name := range []string{"a", "b", "c"} {
		put.Columns[i].Name = name
	}
	for name, c := range map[string]struct {
		Request
		least map[string]int // the least number of steps of a phase
	}{
		"sort": {Request{Options: keyed(option.Options{Sort: true})},
			map[string]int{progress.Arrange: 6}},
		"sort and merge": {Request{Options: option.Options{Time: "i", Sort: true,
			Duplicates: "mean", MaxDuplicates: &all, Columns: []string{"a", "b"}}}, map[string]int{progress.Arrange: 3}},
		"filtered items": {Request{Options: keyed(option.Options{Sort: true,
			ItemBucket: "0/2"})}, map[string]int{progress.Arrange: 6}},
		"steps of each column": {
			Request{Options: option.Options{Scale: option.All(option.ScaleRobust)}},
			map[string]int{progress.Scale: 2}},
		"series of two files": {Request{Options: option.Options{Melt: option.MeltColumns,
			Sources: []string{loadtest.File(t, "a.csv", "a\n"+strings.Repeat("1\n", 4000)),
				loadtest.File(t, "b.csv", "a,b,c,d\n1,1,1,1\n")}}}, nil},
		"a put": {Request{Put: &put}, map[string]int{progress.Read: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			j, m := c.Request, &progress.Meter{}
			if j.Dir = t.TempDir(); j.Put == nil && j.Options.Sources == nil {
				j.Options.Sources = []string{path}
			}
			w := &progressProbe{Context: t.Context(),
				Reader: bytes.NewReader(bytes.Repeat(values, 3)), meter: m}
			j.Conn = w
			if _, err := Run(w, j, m); err != nil {
				t.Fatal(err)
			}
			for phase, least := range c.least {
				if n := w.steps(phase); n < least {
					t.Errorf("%s: %d steps, want at least %d of %+v", phase, n, least, w.recorded)
				}
			}
			for i, p := range w.recorded {
				if p.RowsTotal > 0 && p.Rows > p.RowsTotal ||
					i > 0 && p.Share < w.recorded[i-1].Share {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestPhasesDependOnTheOptions compares the phases of a load with its options.
func TestPhasesDependOnTheOptions(t *testing.T) {
	file := []layout.Source{{Path: "a.csv"}}
	always := []string{progress.Count, progress.Read, progress.Arrange, progress.Finish}
	for name, c := range map[string]struct {
		load
		want []string
	}{
		"no options": {load{sources: file}, always},
		"all": {
			load{Options: option.Options{HashSources: true, Sort: true, ItemBucket: "0/2",
				Scale: option.All(option.ScaleStandard)}, sources: file, base: &base{}},
			[]string{progress.Hash, progress.Count, progress.Read, progress.Filter,
				progress.Arrange, progress.Scale, progress.Copy, progress.Finish},
		},
	} {
		var got []string
		c.meter = &progress.Meter{}
		for _, p := range c.phases() {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestDecompressionReportsEveryByte sums the compressed bytes that decompression reports. The sum
// must be the size of the file.
func TestDecompressionReportsEveryByte(t *testing.T) {
	for _, suffix := range []string{".gz", ".zst"} {
		compressed := loadtest.Compressed(t, suffix, "a,b\n"+strings.Repeat("1.5,2.5\n", 100_000))
		var reported, reports int64
		w := source.Settings{Workers: 1, BlockBytes: files.BlockBytes,
			Text: textvalue.DefaultDialect, Decompression: files.Decompression{Dir: t.TempDir(),
				Free: files.FreeBytes, Ratio: files.MaxRatio,
				OnRead: func(n int64) { reported, reports = reported+n, reports+1 }}}
		r, err := open(loadtest.File(t, "a.csv"+suffix, compressed), w)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if reported != int64(len(compressed)) {
			t.Errorf("%s: %d of %d bytes were reported, in %d reports", suffix, reported,
				len(compressed), reports)
		}
	}
}
