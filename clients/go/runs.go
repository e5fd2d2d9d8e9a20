package tensorcache

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// runSize is the number of bytes of a run from the daemon: item, first start and count, each an
// int64.
const runSize = 24

// runs is the list of a window set's runs. A run is consecutive windows of one item, whose starts
// are a stride apart. Window numbers count through the runs in order.
type runs struct {
	item, start []int64
	end         []int64 // the number of windows of each run and all runs before it
	stride      int64
	contiguous  bool // each window begins at the row after the context of the window before
}

func parseRuns(b []byte, stride int64) (*runs, error) {
	if len(b)%runSize != 0 {
		return nil, fmt.Errorf("%w: %d bytes of runs", ErrProtocol, len(b))
	}
	n := len(b) / runSize
	r := &runs{item: make([]int64, n), start: make([]int64, n), end: make([]int64, n),
		stride: stride}
	sum := int64(0)
	for i := range n {
		at := b[i*runSize:]
		r.item[i] = int64(binary.LittleEndian.Uint64(at))
		r.start[i] = int64(binary.LittleEndian.Uint64(at[8:]))
		sum += int64(binary.LittleEndian.Uint64(at[16:]))
		r.end[i] = sum
	}
	return r, nil
}

// place returns the item and start of window i.
func (r *runs) place(i int64) (item, start int64) {
	run := sort.Search(len(r.end), func(k int) bool { return r.end[k] > i })
	_, first, _ := r.RunAt(run)
	return r.item[run], r.start[run] + (i-first)*r.stride
}

// starts returns the starts of an item's windows.
func (r *runs) starts(item int64) []int64 {
	out := []int64{}
	for run := sort.Search(len(r.item), func(k int) bool { return r.item[k] >= item }); run < len(
		r.item) && r.item[run] == item; run++ {
		_, _, count := r.RunAt(run)
		for k := range count {
			out = append(out, r.start[run]+k*r.stride)
		}
	}
	return out
}

// Len, RunCount, RunAt, Contiguous and Continues implement [sampler.Windows], by which the sampler
// counts an epoch's batches.
func (r *runs) Len() int64 {
	if len(r.end) == 0 {
		return 0
	}
	return r.end[len(r.end)-1]
}

func (r *runs) RunCount() int { return len(r.end) }

func (r *runs) RunAt(i int) (item, first, count int64) {
	if i > 0 {
		first = r.end[i-1]
	}
	return r.item[i], first, r.end[i] - first
}

func (r *runs) Contiguous() bool { return r.contiguous }

func (r *runs) Continues(int64) bool { return true }
