package window

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Index is the set of windows that exist: immutable, safe for concurrent use.
type Index struct {
	base     *base
	cuts     []Cut
	narrow   []narrower
	latest   bool
	context  *base // of latest: that of windows which are a context alone
	runs     runList
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

// Len returns the number of windows.
func (x *Index) Len() int64 { return x.runs.windows() }

// Place returns where window n is. It panics unless 0 ≤ n < Len.
func (x *Index) Place(n int64) Place { return x.runs.place(x.runs.find(n), n) }

// PlaceNear is Place for callers that ask for windows mostly in ascending order. The caller keeps
// run between calls, 0 at first: it is the number of the run that held the last window. PlaceNear
// finds a window of the same or the next run without a search.
func (x *Index) PlaceNear(n int64, run *int) Place {
	if !x.runs.holds(*run, n) {
		*run = x.runs.findFrom(n, *run+1)
	}
	return x.runs.place(*run, n)
}

// RunNear returns the run that holds window n: the place of its first window, the number of that
// window, and the number of windows; starts are one stride apart. run is that of PlaceNear.
func (x *Index) RunNear(n int64, run *int) (place Place, first, count int64) {
	if !x.runs.holds(*run, n) {
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
