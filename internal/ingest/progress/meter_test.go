package progress

import (
	"slices"
	"testing"
)

func TestProgressCoversAllPhasesAndNeverDecreases(t *testing.T) {
	var m Meter
	m.SetPhases([]Phase{{Count, 1}, {Read, 2}, {Finish, 1}})
	m.BytesTotal.Store(100)
	m.RowsTotal.Store(10)
	var got []float64
	at := func(phase string, rows, bytes int64) {
		m.Enter(phase)
		m.Rows.Store(rows)
		m.Bytes.Store(bytes)
		got = append(got, m.Progress().Share)
	}
	at(Count, 0, 0)
	at(Count, 0, 50)
	at(Read, 5, 0)
	at(Read, 10, 0)
	at(Read, 0, 0) // again, with wider columns
	at("one that nobody expected", 0, 0)
	at(Finish, 0, 0)
	at(Finish, 10, 0)
	if want := []float64{0, 0.125, 0.5, 0.75, 0.75, 0.75, 0.75, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
