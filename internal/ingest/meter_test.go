package ingest

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestProgressIsOverAllPhasesAndNeverGoesBack(t *testing.T) {
	var m meter
	m.expect([]weightedPhase{{phaseCount, 1}, {phaseRead, 2}, {phaseFinish, 1}})
	m.bytesTotal.Store(100)
	m.rowsTotal.Store(10)
	var got []float64
	at := func(phase string, rows, bytes int64) {
		m.enter(phase)
		m.rows.Store(rows)
		m.bytes.Store(bytes)
		got = append(got, m.read().Share)
	}
	at(phaseCount, 0, 0)
	at(phaseCount, 0, 50)
	at(phaseRead, 5, 0)
	at(phaseRead, 10, 0)
	at(phaseRead, 0, 0) // again, with wider columns
	at("one that nobody expected", 0, 0)
	at(phaseFinish, 0, 0)
	at(phaseFinish, 10, 0)
	if want := []float64{0, 0.125, 0.5, 0.75, 0.75, 0.75, 0.75, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestALoadTellsAllItsPhasesInAdvance(t *testing.T) {
	path := source(t, "a.csv.gz", packed(t, ".gz", "a\n1\n2\n"))
	o := Options{Sources: []string{path}, Scale: All(scaleStandard), HashSources: true}
	j := job(t, o)
	var last Progress
	if _, err := Run(t.Context(), os.Args[0], j, nil, func(p Progress) {
		if p.Share < last.Share {
			t.Errorf("%v comes after %v", p.Share, last.Share)
		}
		last = p
	}); err != nil {
		t.Fatal(err)
	}
	if last.Phase != phaseFinish || last.Share < 0.5 {
		t.Errorf("the last: %+v", last)
	}
}

func TestAChildUsesAsManyCoresAsItIsTold(t *testing.T) {
	var got []int
	obey(bufio.NewReader(strings.NewReader("{\"cores\":3}\n\nnonsense\n{\"cores\":0}\n{\"cores\":1}\n")), func(n int) { got = append(got, n) })
	if !slices.Equal(got, []int{3, 1}) {
		t.Errorf("%v, want 3 and 1", got)
	}
}
