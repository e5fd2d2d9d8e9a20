package window

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Run is a stretch of windows of one item: Count starts from First on, one stride apart.
type Run struct {
	Item, First, Count int64
}

// Place is where a window is: its item and the item's row of its first context row, which is
// before the item's first row when the window is padded.
type Place struct {
	Item, Start int64
}

// Index is the set of windows that exist: immutable, safe for concurrent use.
type Index struct {
	base     *base
	cuts     []Cut
	narrow   []narrower
	latest   bool
	context  *base // of latest: that of windows which are a context alone
	runs     []Run
	ends     []int64 // ends[i] is the number of windows in runs[:i+1]
	rejected [len(Reasons)]int64
}

// base is what an index and its parts share.
type base struct {
	spec    Spec
	shape   shape
	table   Table
	time    timeRange
	maxStep uint64 // in the table's unit, where the spec has one
	blocks  []block
}

// New is the index of all windows that the spec admits.
func New(spec Spec, t Table) (*Index, error) { return Apply(spec, t, nil) }

// Apply is New followed by the cuts in turn.
func Apply(spec Spec, t Table, cuts []Cut) (*Index, error) {
	for _, c := range cuts {
		if err := c.Validate(); err != nil {
			return nil, err
		}
	}
	b, err := newBase(spec, t)
	if err != nil {
		return nil, err
	}
	return b.index(cuts)
}

func newBase(spec Spec, t Table) (*base, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	b := &base{spec: spec, shape: newShape(spec), table: t}
	if t.Times == nil && !spec.Time.open() {
		return nil, noTimes("time", spec.Time.String())
	}
	if t.Times == nil && spec.MaxStep != nil {
		return nil, noTimes("max_step", spec.MaxStep.String())
	}
	var err error
	if b.time, err = spec.Time.in("time", t.Unit); err != nil {
		return nil, err
	}
	if spec.MaxStep != nil {
		if b.maxStep, err = spec.MaxStep.in(t.Unit); err != nil {
			return nil, err
		}
	}
	return b, b.findBlocks()
}

// admitted are the rows of an item that the spec lets windows use.
func (b *base) admitted(item int64) (from, to int64) {
	if !b.spec.Time.open() {
		return b.time.rows(b.table.times(item))
	}
	return b.spec.Rows.resolve(b.table.length(item))
}

// Len is the number of windows.
func (x *Index) Len() int64 {
	if len(x.ends) == 0 {
		return 0
	}
	return x.ends[len(x.ends)-1]
}

// Place is where window n is. It panics unless 0 ≤ n < Len.
func (x *Index) Place(n int64) Place {
	return x.placeIn(x.runOf(n), n)
}

// PlaceNear is Place for windows that mostly follow each other: run is where the latest one was
// found, 0 at first, and is kept by the caller. A window of the same run or of the next one is
// found without a search.
func (x *Index) PlaceNear(n int64, run *int) Place {
	if i := *run; n < x.ends[i]-x.runs[i].Count || n >= x.ends[i] {
		if i++; i == len(x.ends) || n < x.ends[i-1] || n >= x.ends[i] {
			i = x.runOf(n)
		}
		*run = i
	}
	return x.placeIn(*run, n)
}

// RunNear is the run that holds window n: where its first window is, that window's number, and how
// many windows it has; each starts a stride after the one before. run is as PlaceNear has it.
func (x *Index) RunNear(n int64, run *int) (place Place, first, count int64) {
	x.PlaceNear(n, run)
	r := &x.runs[*run]
	return Place{r.Item, r.First}, x.ends[*run] - r.Count, r.Count
}

func (x *Index) placeIn(run int, n int64) Place {
	r := &x.runs[run]
	return Place{r.Item, r.First + (n-x.ends[run]+r.Count)*x.base.shape.stride}
}

// runOf is the run that holds window n.
func (x *Index) runOf(n int64) int {
	if n < 0 || n >= x.Len() {
		panic("window: number out of range")
	}
	lo, hi := 0, len(x.ends)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if x.ends[mid] <= n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Number is the inverse of Place; false when there is no such window.
func (x *Index) Number(p Place) (int64, bool) {
	i := x.firstRun(p.Item, p.Start+1) - 1
	if i < 0 || x.runs[i].Item != p.Item {
		return 0, false
	}
	r := &x.runs[i]
	off := p.Start - r.First
	if off < 0 || off%x.base.shape.stride != 0 || off/x.base.shape.stride >= r.Count {
		return 0, false
	}
	return x.ends[i] - r.Count + off/x.base.shape.stride, true
}

// firstRun is the first run at or after (item, start).
func (x *Index) firstRun(item, start int64) int {
	lo, hi := 0, len(x.runs)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r := &x.runs[mid]; r.Item < item || r.Item == item && r.First < start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Runs are the runs in the order of window numbers. The slice is the index's own: do not change it.
func (x *Index) Runs() []Run { return x.runs }

// RunCount is the number of runs.
func (x *Index) RunCount() int { return len(x.runs) }

// RunAt is run i: its item, the number of its first window, and how many windows it has.
func (x *Index) RunAt(i int) (item, first, count int64) {
	r := &x.runs[i]
	return r.Item, x.ends[i] - r.Count, r.Count
}

// OfItem are the numbers [first, first+count) of an item's windows.
func (x *Index) OfItem(item int64) (first, count int64) {
	return x.before(item), x.before(item+1) - x.before(item)
}

// before is the number of windows of items before this one.
func (x *Index) before(item int64) int64 {
	i := x.firstRun(item, -limit)
	if i == 0 {
		return 0
	}
	return x.ends[i-1]
}

// Positions is the number of places where a window was looked for.
func (x *Index) Positions() int64 {
	sum := x.Len()
	for _, n := range x.rejected {
		sum += n
	}
	return sum
}

// Rejected says how many positions are no windows, by reason; reasons that took none are left out.
func (x *Index) Rejected() map[Reason]int64 {
	m := make(map[Reason]int64)
	for i, n := range x.rejected {
		if n > 0 {
			m[Reasons[i]] = n
		}
	}
	return m
}

// Items is the number of items of the table, with windows or without.
func (x *Index) Items() int64 { return x.base.table.Items() }

// Spec is the spec the index was made from.
func (x *Index) Spec() Spec { return x.base.spec }

// Cuts are the steps that narrowed it, without names.
func (x *Index) Cuts() []Cut { return append([]Cut(nil), x.cuts...) }

// IsLatest says that the windows have no target (see [Index.Latest]).
func (x *Index) IsLatest() bool { return x.latest }

// FirstRow is the first row of an item that windows may use; what is before is padding.
func (x *Index) FirstRow(item int64) int64 {
	a, _ := x.base.admitted(item)
	return a
}

// Pad is the number of a window's leading context rows that are padding.
func (x *Index) Pad(p Place) int64 {
	if x.base.shape.pad == 0 {
		return 0
	}
	return x.base.shape.padded(p.Start, x.FirstRow(p.Item))
}

// Range are the rows of an item in which this part's prediction rows lie; empty when the item is
// not in the part.
func (x *Index) Range(item int64) (lo, hi int64) {
	e := x.extent(item)
	if e.absent {
		return 0, 0
	}
	return e.lo, max(e.lo, e.hi)
}

// Hash names spec and cuts: equal hashes give equal windows on equal tables.
func (x *Index) Hash() string {
	data, err := json.Marshal(struct {
		Spec Spec  `json:"spec"`
		Cuts []Cut `json:"cuts"`
	}{x.base.spec, append([]Cut{}, x.cuts...)})
	if err != nil {
		panic("window: a valid spec did not marshal: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
