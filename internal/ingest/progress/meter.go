// Package progress measures how far a load is: its phase, and rows and bytes of the phase.
//
// Workers add to a [Meter] while the daemon reads it as [Progress].
package progress

import (
	"math"
	"sync/atomic"
)

// Progress is how far a load is. Rows and bytes are those of the phase. Bytes are of the sources.
type Progress struct {
	Phase      string `json:"phase"`
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"`
	BytesTotal int64  `json:"bytes_total"`
	// Share is the part of the whole load that is done, 0 to 1. It never decreases.
	Share float64 `json:"share"`
}

// Meter is the progress that workers add to. It is safe for concurrent use, except for the fields
// that are not atomic, which are set before the load. The zero value works.
type Meter struct {
	OnSource                           func(source string) // called by SetSource; may be nil
	phase                              atomic.Value
	Rows, RowsTotal, Bytes, BytesTotal atomic.Int64
	// rows of the sources before melting; 0 without it
	SourceRows atomic.Int64
	phases     atomic.Pointer[[]Phase]
	// bits of the greatest share that Progress has returned
	best atomic.Uint64

	OnSpaceNeeded func(bytes int64) // called by AnnounceSpace; may be nil
	BaseBytes     int64             // disk space that the job has taken before, in bytes
}

// AnnounceSpace reports the disk space that the job is going to take, in bytes.
func (m *Meter) AnnounceSpace(bytes int64) {
	if m.OnSpaceNeeded != nil {
		m.OnSpaceNeeded(m.BaseBytes + bytes)
	}
}

// SetPhases sets the phases of the load.
func (m *Meter) SetPhases(phases []Phase) { m.phases.Store(&phases) }

// SetSource reports the source that is read from now on, "" for none. If the process dies, the
// daemon names it in the error.
func (m *Meter) SetSource(source string) {
	if m.OnSource != nil {
		m.OnSource(source)
	}
}

// Enter begins a phase, with zero rows and bytes.
func (m *Meter) Enter(phase string) {
	m.Rows.Store(0)
	m.Bytes.Store(0)
	m.phase.Store(phase) // last, so that Progress never returns rows of the phase before
}

// Progress returns the progress now.
func (m *Meter) Progress() Progress {
	phase, _ := m.phase.Load().(string)
	p := Progress{
		Phase: phase, Rows: m.Rows.Load(), RowsTotal: m.RowsTotal.Load(),
		Bytes: m.Bytes.Load(), BytesTotal: m.BytesTotal.Load(),
	}
	if melted := m.SourceRows.Load(); phase == Read && melted > 0 {
		p.Rows = int64(float64(p.Rows) * float64(p.RowsTotal) / float64(melted))
	}
	if phases := m.phases.Load(); phases != nil {
		// A phase may begin again, with wider columns.
		p.Share = max(p.share(*phases), math.Float64frombits(m.best.Load()))
		m.best.Store(math.Float64bits(p.Share))
	}
	return p
}

// share returns the part of all phases that is done, 0 in a phase that is not one of them.
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

// Phase is a phase and its weight in the progress of the load.
type Phase struct {
	Name   string
	Weight float64 // its duration in proportion to the other phases
}
