package ingest

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

// meter is the progress that workers add to.
type meter struct {
	tell                               func(source string) // nil where nobody asks
	phase                              atomic.Value
	rows, rowsTotal, bytes, bytesTotal atomic.Int64
	melted                             atomic.Int64 // rows of the sources of which the total is made
	phases                             atomic.Pointer[[]weightedPhase]
	best                               atomic.Uint64 // bits of the greatest share that was told

	need   func(int64) // is told what the job is going to take; nil in tests
	beside int64       // what it takes besides, from before
}

// announce tells what is going to be taken.
func (m *meter) announce(bytes int64) {
	if m.need != nil {
		m.need(m.beside + bytes)
	}
}

// expect sets the phases of the load.
func (m *meter) expect(phases []weightedPhase) { m.phases.Store(&phases) }

// reads tells which source is looked at from here on, "" for none: what it is named by if the process does not survive it.
func (m *meter) reads(source string) {
	if m.tell != nil {
		m.tell(source)
	}
}

// enter begins a phase, with rows and bytes at zero.
func (m *meter) enter(phase string) {
	m.rows.Store(0)
	m.bytes.Store(0)
	m.phase.Store(phase) // last: what is read beside a phase is never of the one before
}

func (m *meter) read() Progress {
	phase, _ := m.phase.Load().(string)
	p := Progress{Phase: phase, Rows: m.rows.Load(), RowsTotal: m.rowsTotal.Load(), Bytes: m.bytes.Load(), BytesTotal: m.bytesTotal.Load()}
	if melted := m.melted.Load(); phase == phaseRead && melted > 0 {
		p.Rows = int64(float64(p.Rows) * float64(p.RowsTotal) / float64(melted))
	}
	if phases := m.phases.Load(); phases != nil {
		p.Share = max(p.share(*phases), math.Float64frombits(m.best.Load())) // a phase that begins again takes nothing back
		m.best.Store(math.Float64bits(p.Share))
	}
	return p
}

// share returns how much of all phases is done. It is 0 in a phase that is not one of them.
func (p Progress) share(phases []weightedPhase) float64 {
	var before, now, total float64
	found := false
	for _, w := range phases {
		total += w.weight
		if w.name == p.Phase {
			found, now = true, w.weight
		} else if !found {
			before += w.weight
		}
	}
	if !found || total == 0 {
		return 0
	}
	part := 0.0
	switch {
	case p.RowsTotal > 0 && p.Phase != PhaseHash && p.Phase != phaseCount:
		part = float64(p.Rows) / float64(p.RowsTotal)
	case p.BytesTotal > 0:
		part = float64(p.Bytes) / float64(p.BytesTotal)
	}
	return (before + now*min(1, part)) / total
}

// PhaseHash is the phase in which the sources are hashed.
const PhaseHash = "hash"

// The other phases of a load.
const (
	phaseCount   = "count"
	phaseRead    = "read"
	phaseFilter  = "filter"
	phaseArrange = "arrange"
	phaseScale   = "scale"
	phaseCopy    = "copy"
	phaseFinish  = "finish"
)

// weightedPhase is a phase and its fixed share of the progress, relative to the other phases.
type weightedPhase struct {
	name   string
	weight float64
}
