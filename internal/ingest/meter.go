package ingest

import "sync/atomic"

// Phases of a load.
const (
	phaseCount  = "count"
	phaseRead   = "read"
	phaseScale  = "scale"
	phaseFinish = "finish"
)

// Progress is how far a load is. Bytes are of the sources.
type Progress struct {
	Phase      string `json:"phase"`
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"`
	BytesTotal int64  `json:"bytes_total"`
}

// meter is the progress that workers add to.
type meter struct {
	phase                              atomic.Value
	rows, rowsTotal, bytes, bytesTotal atomic.Int64
}

// enter begins a phase, with rows and bytes at zero.
func (m *meter) enter(phase string) {
	m.phase.Store(phase)
	m.rows.Store(0)
	m.bytes.Store(0)
}

func (m *meter) read() Progress {
	phase, _ := m.phase.Load().(string)
	return Progress{phase, m.rows.Load(), m.rowsTotal.Load(), m.bytes.Load(), m.bytesTotal.Load()}
}
