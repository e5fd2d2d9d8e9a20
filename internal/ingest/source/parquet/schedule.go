package parquet

import "sync"

// sectionBytes is the size of a section of the file in bytes. Within a section, chunks are read
// column by column. A chunk can be smaller than the kernel's readahead, so the section must be
// small enough for the page cache: the bytes of the next chunk are read ahead with it and are
// needed later.
const sectionBytes = 512 << 20

// chunkSchedule decides which worker decodes which column chunk. Chunks are numbered row group by
// row group.
//
// A worker that has started a column continues with its next row group, so that its buffer stays
// contiguous and statistics are computed in row order. A worker whose column is finished starts one
// that no worker has started. If all are started, it helps with the column that has the most chunks
// left.
type chunkSchedule struct {
	columns int

	mu      sync.Mutex
	runs    []chunkRun // section by section, and column by column within a section
	current []int      // by worker, the index of its run; -1 for none
	started int        // number of runs that a worker has started
}

// chunkRun is the chunks of one column in one section that are not decoded yet: the row groups from
// group up to end.
type chunkRun struct{ column, group, end int }

// newChunkSchedule returns a schedule for row groups of the given sizes in bytes.
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

// next returns the number of the worker's next chunk. Only chunks below a number are scheduled; a
// result of that number means that none is left.
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
