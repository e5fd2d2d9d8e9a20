// Package progress says how far a load is: its phases, and the rows and bytes of each.
//
// A [Meter] is safe for concurrent use: workers add to it while the job reads it.
package progress

import (
	"math"
	"sync/atomic"
)

// Progress is how far a load is. Bytes are of the sources. Rows and bytes are those of the phase.
type Progress struct {
	Phase      string `json:"phase"`
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"`
	BytesTotal int64  `json:"bytes_total"`
	// Share is how much of the whole load is done, over all phases: 0 to 1.
	Share float64 `json:"share"`
}

// Meter is the progress that workers add to.
type Meter struct {
	OnSource                           func(source string) // nil if nobody asks
	phase                              atomic.Value
	Rows, RowsTotal, Bytes, BytesTotal atomic.Int64
	SourceRows                         atomic.Int64 // rows of the sources of which the total is made
	phases                             atomic.Pointer[[]Phase]
	best                               atomic.Uint64 // bits of the greatest share that was told

	OnSpaceNeeded     func(int64) // is told what the job is going to take; nil in tests
	BaseBytes int64       // what it takes besides, from before
}

// AnnounceSpace tells what is going to be taken.
func (m *Meter) AnnounceSpace(bytes int64) {
	if m.OnSpaceNeeded != nil {
		m.OnSpaceNeeded(m.BaseBytes + bytes)
	}
}

// SetPhases sets the phases of the load.
func (m *Meter) SetPhases(phases []Phase) { m.phases.Store(&phases) }

// SetSource tells which source is looked at from here on, "" for none: what it is named by if the process does not survive it.
func (m *Meter) SetSource(source string) {
	if m.OnSource != nil {
		m.OnSource(source)
	}
}

// Enter begins a phase, with rows and bytes at zero.
func (m *Meter) Enter(phase string) {
	m.Rows.Store(0)
	m.Bytes.Store(0)
	m.phase.Store(phase) // last: what is read beside a phase is never of the one before
}

func (m *Meter) Progress() Progress {
	phase, _ := m.phase.Load().(string)
	p := Progress{Phase: phase, Rows: m.Rows.Load(), RowsTotal: m.RowsTotal.Load(), Bytes: m.Bytes.Load(), BytesTotal: m.BytesTotal.Load()}
	if melted := m.SourceRows.Load(); phase == Read && melted > 0 {
		p.Rows = int64(float64(p.Rows) * float64(p.RowsTotal) / float64(melted))
	}
	if phases := m.phases.Load(); phases != nil {
		p.Share = max(p.share(*phases), math.Float64frombits(m.best.Load())) // a phase that begins again takes nothing back
		m.best.Store(math.Float64bits(p.Share))
	}
	return p
}

// share returns how much of all phases is done. It is 0 in a phase that is not one of them.
func (p Progress) share(phases []Phase) float64 {
	var before, now, total float64
	found := false
	for _, w := range phases {
		total += w.Weight
		if w.Name == p.Phase {
			found, now = true, w.Weight
		} else if !found {
			before += w.Weight
		}
	}
	if !found || total == 0 {
		return 0
	}
	part := 0.0
	switch {
	case p.RowsTotal > 0 && p.Phase != Hash && p.Phase != Count:
		part = float64(p.Rows) / float64(p.RowsTotal)
	case p.BytesTotal > 0:
		part = float64(p.Bytes) / float64(p.BytesTotal)
	}
	return (before + now*min(1, part)) / total
}

// Hash is the phase in which the sources are hashed.
const Hash = "hash"

// The other phases of a load.
const (
	Count   = "count"
	Read    = "read"
	Filter  = "filter"
	Arrange = "arrange"
	Scale   = "scale"
	Copy    = "copy"
	Finish  = "finish"
)

// Phase is a phase and its fixed share of the progress, relative to the other phases.
type Phase struct {
	Name   string
	Weight float64
}
