package step

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// maxFirsts is the greatest number of items and features for which a manifest stores the values
// that differences begin at.
const maxFirsts = 1 << 16

// diff replaces values by their difference from the value of the row before. The first of an item
// has none and becomes NaN.
type diff struct {
	stepDefaults
	run    *columnRun
	firsts []float64 // by item and feature: the value before the first difference; nil if too many
	lasts  []float64 // likewise: the last value

	place int     // of the series in firsts and lasts
	last  float64 // the value before the next, NaN before the first
	first float64 // the value before the first difference, else the last value
	found bool    // there was a difference
}

func newDiff(r *columnRun, _ option.Setting) Step {
	d := &diff{run: r}
	if n := (len(r.Offsets) - 1) * r.width; n <= maxFirsts {
		d.firsts, d.lasts = make([]float64, n), make([]float64, n)
	}
	return d
}

func (d *diff) begin(s series) {
	d.place, d.last, d.first, d.found = s.place, column.NaN, column.NaN, false
	d.store()
}

// resume takes the last value of the generation from its record, since differences do not have it.
func (d *diff) resume(s series, _ float64) float64 {
	item := d.run.Base.Of[s.item]
	d.last = canonical(d.run.old.Prepared.Last[int(item)*d.run.width+s.feature])
	d.store()
	return d.last
}

func (d *diff) apply(to, from []float64, _ int64) error {
	last := d.last
	for i, v := range from {
		difference := v - last
		if !d.found {
			if d.first = v; difference == difference {
				d.first, d.found = last, true
			}
		}
		to[i], last = difference, v
	}
	d.last = last
	d.store()
	return nil
}

// store stores the first and the last value of the series so far.
func (d *diff) store() {
	if d.firsts != nil {
		d.firsts[d.place], d.lasts[d.place] = d.first, d.last
	}
}

// whyMissing returns why a difference may be missing, and what to do.
func (d *diff) whyMissing() (reason, hint string) {
	return "the difference is missing, but only float columns have missing values",
		"store the differences as floats: leave the column out of `dtype`"
}

func (d *diff) record(r *Result) {
	p := r.prepared()
	p.Diff, p.First, p.Last = true, d.firsts, d.lasts
}

func describeDiff(c *layout.ManifestColumn) string {
	if c.Prepared == nil || !c.Prepared.Diff {
		return ""
	}
	return "diff"
}

// checkAppendDiff refuses to append to differences if the generation has not stored their last
// values.
func checkAppendDiff(old *layout.ManifestColumn) error {
	if old.Prepared != nil && old.Prepared.Last != nil {
		return nil
	}
	return &loaderr.SourceError{
		Column: old.Name,
		Reason: "rows cannot be appended to its differences: the dataset does not store the values that they start from",
		Hint:   loaderr.HintReload,
	}
}

// joinDiff joins the first and last values of items. An item without a difference so far has the
// first value of its new rows.
func joinDiff(j *join) {
	old, added := j.old.Prepared, j.added.Prepared
	if old == nil || !old.Diff {
		return
	}
	both := j.result.Prepared
	if old.First == nil || added.First == nil { // too many items, now or before
		both.First, both.Last = nil, nil
		return
	}
	both.First, both.Last = j.extended(old.First, added.First), j.extended(old.Last, added.Last)
	for i, code := range j.base.Of {
		if code < 0 {
			continue
		}
		for feature := range j.width {
			at := int(code)*j.width + feature
			if !j.base.hasDifference(j.old, code, int64(feature), old.First[at], old.Last[at]) {
				both.First[at] = added.First[i*j.width+feature]
			}
			both.Last[at] = added.Last[i*j.width+feature]
		}
	}
}

// hasDifference reports whether an item of a generation has any difference. first is the value
// before the first one, else the last value; last is the last value.
func (b *Base) hasDifference(c *layout.ManifestColumn, code, feature int64, first,
	last float64) bool {
	if first != last && (first == first || last == last) {
		return true
	}
	for row := b.Offsets[code]; row < b.Offsets[code+1]; row++ {
		if v := NumberAt(b.Data, c, row, feature); v == v {
			return true
		}
	}
	return false
}
