package ingest

import (
	"slices"
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
