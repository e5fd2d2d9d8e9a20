package window

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Index is the set of windows that exist. It is immutable and safe for concurrent use.
type Index struct {
	subset   *subset
	runs     runList
	rejected reasonCounts
}

// base is what an index and all its parts share. It is immutable.
type base struct {
	spec       Spec
	shape      shape
	table      Table
	time       timeRange
	maxStep    uint64 // in the table's unit, if the spec has max_step
	rejections []rejection
}

// New returns the index of all windows that the spec admits. The error is a [SpecError] or wraps
// [ErrTable].
func New(spec Spec, t Table) (*Index, error) { return Apply(spec, t, nil) }

// Apply is New followed by the cuts in their order.
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
	return newIndex(b, cuts)
}

// newIndex returns the index of a base after cuts, each of which is valid.
func newIndex(b *base, cuts []Cut) (*Index, error) {
	p, err := newSubset(b, cuts)
	if err != nil {
		return nil, err
	}
	return p.index()
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
	if b.spec.Time, err = spec.Time.instants("time", t); err != nil {
		return nil, err
	}
	if b.time, err = b.spec.Time.in("time", t.Unit); err != nil {
		return nil, err
	}
	if spec.MaxStep != nil {
		if b.maxStep, err = spec.MaxStep.in(t.Unit); err != nil {
			return nil, err
		}
	}
	return b, b.findRejections()
}

// admitted returns the rows of an item that the spec lets windows use.
func (b *base) admitted(item int64) (from, to int64) {
	if !b.spec.Time.open() {
		return b.time.rows(b.table.times(item))
	}
	return b.spec.Rows.resolve(b.table.length(item))
}

// Len returns the number of windows.
func (x *Index) Len() int64 { return x.runs.windows() }

// Place returns where window n is. It panics unless 0 ≤ n < Len.
func (x *Index) Place(n int64) Place { return x.runs.place(x.runs.find(n), n) }

// PlaceNear is Place for callers that ask for windows mostly in ascending order. The caller keeps
// run between calls, 0 at first: it is the number of the run that contained the previous window.
// PlaceNear finds a window of the same or the next run without a search.
func (x *Index) PlaceNear(n int64, run *int) Place {
	if !x.runs.contains(*run, n) {
		*run = x.runs.findFrom(n, *run+1)
	}
	return x.runs.place(*run, n)
}

// RunNear returns the run that contains window n: the place of its first window, the number of that
// window, and the number of windows; starts are one stride apart. run is that of PlaceNear.
func (x *Index) RunNear(n int64, run *int) (place Place, first, count int64) {
	if !x.runs.contains(*run, n) {
		*run = x.runs.findFrom(n, *run+1)
	}
	r := &x.runs.list[*run]
	return Place{r.Item, r.First}, x.runs.firstNumber(*run), r.Count
}

// Number returns the number of the window at a place; ok is false if there is none.
func (x *Index) Number(p Place) (n int64, ok bool) { return x.runs.number(p) }

// Runs returns the runs in the order of window numbers. The slice belongs to the index: do not
// change it.
func (x *Index) Runs() []Run { return x.runs.list }

// RunCount returns the number of runs.
func (x *Index) RunCount() int { return len(x.runs.list) }

// RunAt returns the item of run i, the number of its first window and its number of windows.
func (x *Index) RunAt(i int) (item, first, count int64) {
	r := &x.runs.list[i]
	return r.Item, x.runs.firstNumber(i), r.Count
}

// OfItem returns the numbers [first, first+count) of an item's windows.
func (x *Index) OfItem(item int64) (first, count int64) {
	first = x.runs.before(item)
	return first, x.runs.before(item+1) - first
}

// Positions returns the number of positions: the places where a window could be. Each is a window
// or is counted by Rejected.
func (x *Index) Positions() int64 { return x.Len() + x.rejected.total() }

// Rejected returns how many positions are not windows, by reason. It leaves out reasons that reject
// none.
func (x *Index) Rejected() map[Reason]int64 { return x.rejected.byReason() }

// Items returns the number of items of the table, with windows or without.
func (x *Index) Items() int64 { return x.subset.base.table.Items() }

// Spec returns the spec of the index.
func (x *Index) Spec() Spec { return x.subset.base.spec }

// Cuts returns the cuts that narrowed the index, without the names of parts.
func (x *Index) Cuts() []Cut { return append([]Cut(nil), x.subset.cuts...) }

// IsLatest reports whether the windows have no target (see [Index.Latest]).
func (x *Index) IsLatest() bool { return x.subset.latest() }

// FirstRow returns the first row of an item that windows may use. Samples before it are padding.
func (x *Index) FirstRow(item int64) int64 {
	a, _ := x.subset.base.admitted(item)
	return a
}

// Pad returns the number of a window's leading context rows that are padding.
func (x *Index) Pad(p Place) int64 {
	sh := &x.subset.base.shape
	if sh.pad == 0 {
		return 0
	}
	return sh.padded(p.Start, x.FirstRow(p.Item))
}

// Range returns the rows [lo, hi) of an item that may be prediction rows of the index. The range is
// empty if the index does not contain the item.
func (x *Index) Range(item int64) (lo, hi int64) {
	e := x.subset.extent(item)
	if e.absent {
		return 0, 0
	}
	return e.lo, max(e.lo, e.hi)
}

// Bytes returns about how much memory the index uses beside its table.
func (x *Index) Bytes() int64 { return 1<<10 + x.runs.bytes() + x.subset.bytes() }

// Hash returns a hash of the spec and the cuts. Indexes with equal hashes on equal tables have
// equal windows.
func (x *Index) Hash() string {
	sum := sha256.Sum256([]byte(x.Canonical()))
	return hex.EncodeToString(sum[:8])
}

// Canonical returns the spec and the cuts as JSON, of which Hash is the hash.
func (x *Index) Canonical() string {
	data, err := json.Marshal(struct {
		Spec Spec  `json:"spec"`
		Cuts []Cut `json:"cuts"`
	}{x.subset.base.spec, append([]Cut{}, x.subset.cuts...)})
	if err != nil {
		panic("window: a valid spec did not marshal: " + err.Error())
	}
	return string(data)
}

// Contiguous reports whether each context begins where the context of the window before in the same
// run ended, as order "lanes" needs: stride = context_length · dilation.
func (x *Index) Contiguous() bool {
	sh := &x.subset.base.shape
	return sh.stride == sh.context*sh.dilation && !x.subset.latest()
}

// Continues reports whether the context of window n of a contiguous index begins where the context
// of window n−1 ended: in the same run and without a jump in time in between. It panics unless
// 0 ≤ n < Len.
//
// A run contains a jump between two windows if the jump is in neither of them. This is possible
// only if windows consist of a context alone.
func (x *Index) Continues(n int64) bool {
	i := x.runs.find(n)
	r, b := &x.runs.list[i], x.subset.base
	k := n - x.runs.firstNumber(i)
	if k == 0 {
		return false
	}
	if b.spec.MaxStep == nil || b.shape.last >= b.shape.stride {
		return true
	}
	times, start := b.table.times(r.Item), r.First+k*b.shape.stride
	for row := start - b.shape.dilation + 1; row <= start; row++ {
		if b.isJump(times[row-1], times[row]) {
			return false
		}
	}
	return true
}
