package parquet

import "sync"

// stripeBytes is how much of a file is read column by column before what is behind it: chunks may be smaller than what the system reads
// ahead, and what it has read for a neighbour should be in memory still.
const sectionBytes = 512 << 20

// columnRuns is the order in which workers take chunks, which are numbered group by group: each goes on with the next group of the column that
// it has begun, so that it gathers on where it was, and rows are summed up in their order. Who has none left begins a column that nobody has;
// where there is none, it helps with the one that has the most left.
type chunkSchedule struct {
	columns int

	mu      sync.Mutex
	runs    []chunkRun // stripe by stripe, and in each column by column
	current []int      // run, by worker; -1 without
	started int        // runs that somebody has had
}

// columnRun are chunks of one column.
type chunkRun struct{ column, group, end int }

// newColumnRuns orders the chunks of groups of so many bytes.
func newChunkSchedule(bytes []int64, columns, workers int) *chunkSchedule {
	r := &chunkSchedule{columns: columns, current: make([]int, workers)}
	for i := range r.current {
		r.current[i] = -1
	}
	for group := 0; group < len(bytes); {
		end, sum := group+1, bytes[group]
		for end < len(bytes) && sum+bytes[end] <= sectionBytes {
			sum += bytes[end]
			end++
		}
		for column := range columns {
			r.runs = append(r.runs, chunkRun{column, group, end})
		}
		group = end
	}
	return r
}

// take gives a worker the number of its next chunk, of those below a number; where there is none, one that is not below it.
func (r *chunkSchedule) next(worker, below int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := func(run int) int {
		c := &r.runs[run]
		return min(c.end, (below-c.column+r.columns-1)/r.columns) - c.group
	}
	run := r.current[worker]
	for run < 0 || left(run) <= 0 {
		if r.started == len(r.runs) {
			run = 0
			for i := range r.runs {
				if left(i) > left(run) {
					run = i
				}
			}
			break
		}
		run = r.started
		r.current[worker] = run
		r.started++
	}
	if left(run) <= 0 {
		return below
	}
	c := &r.runs[run]
	c.group++
	return (c.group-1)*r.columns + c.column
}
