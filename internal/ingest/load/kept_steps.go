package load

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// keptColumn is a column of a generation whose values a put has, with the steps that changed them.
type keptColumn struct {
	put.StepsOf
	data   *layout.Data
	column *layout.ManifestColumn
}

// openKept opens the generations whose columns a put sends. dirs are their directories by digest; a
// generation that is not in the cache has none.
func (l *load) openKept(columns []put.Column, dirs map[string]string) error {
	l.kept, l.keptFrom = map[string]keptColumn{}, map[string]*layout.Data{}
	for _, c := range columns {
		of := c.StepsOf
		if of == nil {
			continue
		}
		if of.Changed {
			l.kept[c.Name] = keptColumn{StepsOf: *of}
			continue
		}
		data := l.keptFrom[of.Digest]
		var err error
		if dir := dirs[of.Digest]; data == nil && dir != "" {
			data, err = layout.Open(dir)
		}
		if err != nil && !errors.Is(err, layout.ErrTorn) {
			return err
		}
		if data == nil && c.IsText() { // its words are sent, and it has no steps
			continue
		}
		if data == nil {
			return &loaderr.SourceError{Column: c.Name, Hint: hintCopy, Reason: fmt.Sprintf(
				"is column %q of generation %d of dataset %q, which is no longer in the cache, nor are the "+
					"steps of the column", of.Column, of.Generation, of.Dataset)}
		}
		l.keptFrom[of.Digest] = data
		column, err := data.Manifest.Column(of.Column)
		if err != nil {
			return &loaderr.SourceError{Column: c.Name, Hint: hintCopy, Reason: fmt.Sprintf(
				"is sent as column %q of dataset %q, which has no such column", of.Column, of.Dataset)}
		}
		l.kept[c.Name] = keptColumn{*of, data, column}
	}
	return nil
}

// closeKept closes the generations.
func (l *load) closeKept() (err error) {
	for _, data := range l.keptFrom {
		err = errors.Join(err, data.Close())
	}
	l.kept, l.keptFrom = nil, nil
	return err
}

// hintCopy is what to do with a column whose steps cannot be kept.
const hintCopy = "put a copy of the column with the same dtype; a copy has no steps"

// checkKept refuses what would change the values of columns that keep their steps: further steps,
// another dtype, melt, and a role other than that of values.
func (l *load) checkKept() error {
	left := maps.Clone(l.kept)
	for i, c := range l.columns {
		k, ok := l.kept[c.Name]
		if !ok || l.wanted.roles[i] != layout.RoleValue && k.hasSteps() {
			continue
		}
		delete(left, c.Name)
		p := l.plans[i]
		is := k.Description()
		switch {
		case k.hasSteps() && len(p.steps) > 0:
			return &loaderr.SourceError{Column: c.Name, Reason: is + ", which has steps already",
				Hint: "name the other columns in the option, or " + hintCopy}
		case k.Changed:
		case k.hasSteps() && p.stored.DType != k.column.DType:
			return &loaderr.SourceError{Column: c.Name,
				Reason: fmt.Sprintf("%s, which is stored as %s and keeps its steps", is, k.column.DType),
				Hint:   "leave it out of `dtype`, or " + hintCopy}
		case l.rows != k.data.Manifest.Rows:
			return &loaderr.SourceError{Column: c.Name, Hint: hintCopy,
				Reason: fmt.Sprintf("%s, which has %d rows", is, k.data.Manifest.Rows)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if k := left[name]; k.hasSteps() {
			return &loaderr.SourceError{Column: name, Hint: hintCopy,
				Reason: k.Description() + ", whose steps only a column of values keeps"}
		}
	}
	return nil
}

// hasSteps reports whether a load changed the values.
func (k keptColumn) hasSteps() bool { return k.Changed || k.column.HasSteps() }

// keepSteps sets the steps of columns that another generation has, too.
func (l *load) keepSteps(final *layout.Final) error {
	final.StepsOf, final.Unchanged = map[string]*layout.StepsOf{}, map[string]string{}
	for _, c := range l.columns {
		k, ok := l.kept[c.Name]
		if !ok || !k.hasSteps() {
			continue
		}
		if k.Changed {
			final.StepsOf[c.Name] = &layout.StepsOf{
				Dataset: k.Dataset, Digest: k.Digest, Column: k.StepsOf.Column, Changed: true}
			continue
		}
		of := k.stepsOf()
		final.StepsOf[c.Name] = of
		if k.dependsOnItems(of) && !sameItems(final.Items, k.data) {
			return &loaderr.SourceError{Column: c.Name,
				Reason: fmt.Sprintf("has steps that depend on the rows of each item, and the put has other "+
					"items than dataset %q", k.Dataset),
				Hint: "put all its rows with " + itemOptions(k.data.Manifest) + ", or " + hintCopy}
		}
		if _, ok := of.Fit["fit_before"]; ok {
			if err := l.sameTimes(final, c.Name, k); err != nil {
				return err
			}
		}
		steps, err := k.steps()
		if err != nil {
			return err
		}
		final.Unchanged[c.Name] = k.column.XXH64
		set(&final.Prepared, c.Name, steps.Prepared)
		set(&final.Scale, c.Name, steps.Scale)
		set(&final.DTypeError, c.Name, k.column.DTypeError)
	}
	return nil
}

// sameTimes requires the times of the generation for a column whose steps were fitted to the rows
// before a time.
func (l *load) sameTimes(final *layout.Final, name string, k keptColumn) error {
	old, err := k.data.Manifest.Column(k.data.Manifest.Time)
	i := slices.IndexFunc(l.columns, func(c column.Column) bool { return c.Name == l.Time })
	if err == nil && i >= 0 {
		now := l.plans[i].stored
		if now.DType == old.DType && now.Unit == old.Unit && now.Zone == old.Zone {
			final.Unchanged[l.Time] = old.XXH64
			return nil
		}
	}
	return l.otherTimes(name, k)
}

// otherTimes is the error for a column whose steps were fitted to the rows before a time, beside other
// times.
func (l *load) otherTimes(name string, k keptColumn) error {
	return &loaderr.SourceError{Column: name,
		Reason: k.Description() + ", whose steps were fitted to the rows before a time, and the put has other times",
		Hint:   "put it with the times of that dataset, or " + hintCopy}
}

// set sets an entry of a map that may be nil.
func set[T any](m *map[string]*T, name string, v *T) {
	if v == nil {
		return
	}
	if *m == nil {
		*m = map[string]*T{}
	}
	(*m)[name] = v
}

// stepsOf returns where the steps are from, which is another dataset if this one has kept them itself.
func (k keptColumn) stepsOf() *layout.StepsOf {
	of := layout.StepsOf{Dataset: k.Dataset, Digest: k.Digest, Column: k.column.Name}
	isScaled := k.data.Manifest.ScaledOf.Has(k.column.Name)
	if k.column.StepsOf != nil && !isScaled {
		of = *k.column.StepsOf
	} else if k.column.IsFitted() {
		of.Fit = k.data.Manifest.Fit(k.column.Name)
	}
	return &of
}

// steps returns the steps with the cells that were missing before the fill.
func (k keptColumn) steps() (layout.ManifestColumn, error) {
	c := *k.column
	if c.Prepared == nil || c.Prepared.Before == nil {
		return c, nil
	}
	prepared := *c.Prepared
	var err error
	prepared.Before, err = k.data.CopyBeforeFill(k.column)
	c.Prepared = &prepared
	return c, err
}

// dependsOnItems reports whether the steps are only right for the items of the generation and their
// rows.
func (k keptColumn) dependsOnItems(of *layout.StepsOf) bool {
	p, s := k.column.Prepared, k.column.Scale
	if s != nil && s.Per == option.ScalePerItem || len(of.Fit) > 0 {
		return true
	}
	return p != nil && (p.Diff || p.FillPer == option.ScalePerItem ||
		p.Before != nil && (p.Fill == option.FillForward || p.Fill == option.FillBackward ||
			p.Fill == option.FillLinear) ||
		p.Winsorize != nil && p.Winsorize.Per == option.ScalePerItem)
}

// sameItems reports whether items have the names and rows of those of a generation.
func sameItems(items layout.Items, d *layout.Data) bool {
	offsets, err := d.ItemOffsets()
	if err != nil || !slices.Equal(offsets, items.Offsets) ||
		len(items.Values) != len(d.Manifest.Items.Values) {
		return false
	}
	for code := range d.Manifest.Items.Count {
		name, err := d.Item(code)
		if err != nil {
			return false
		}
		for i, v := range items.Values {
			same := v.Texts != nil && name[i] == v.Texts[code] || v.Texts == nil && name[i] == v.Ints[code]
			if !same {
				return false
			}
		}
	}
	return true
}

// itemOptions returns the options that make the items of a generation.
func itemOptions(m *layout.Manifest) string {
	hint := "the items and rows of that dataset"
	if len(m.ItemID) > 0 {
		hint = loaderr.Option("item_id", m.ItemID)
	}
	if m.Time != "" {
		hint += " and " + loaderr.Option("time", m.Time)
	}
	return hint
}

// valuesChanged is the error for a column whose values are not those of the generation.
func (l *load) valuesChanged(name string) error {
	if name == l.Time {
		for _, column := range slices.Sorted(maps.Keys(l.kept)) {
			if k := l.kept[column]; !k.Changed && k.stepsOf().Fit["fit_before"] != nil {
				return l.otherTimes(column, k)
			}
		}
	}
	k := l.kept[name]
	return &loaderr.SourceError{Column: name, Hint: hintCopy, Reason: k.Description() +
		", but has other values or another order of rows"}
}
