package jobs

import (
	"maps"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Totals are sums over all jobs that have ended.
type Totals struct {
	// Ended counts jobs by kind and last state.
	Ended map[KindState]int
	// Rows and Bytes are those of the generations of done jobs by kind, without hits, which made
	// none.
	Rows, Bytes map[string]int64
}

// KindState is a kind of jobs and a state, as in [wire.Job].
type KindState struct{ Kind, State string }

func newTotals() Totals {
	return Totals{Ended: map[KindState]int{}, Rows: map[string]int64{}, Bytes: map[string]int64{}}
}

func (t Totals) clone() Totals {
	return Totals{maps.Clone(t.Ended), maps.Clone(t.Rows), maps.Clone(t.Bytes)}
}

// add adds a job that has ended.
func (t Totals) add(j wire.Job) {
	t.Ended[KindState{j.Kind, j.State}]++
	if j.State == wire.JobDone && !j.Hit {
		t.Rows[j.Kind] += j.Rows
		t.Bytes[j.Kind] += j.BytesTotal
	}
}
