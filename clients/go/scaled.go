package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// ScaledOptions configure [Dataset.Scaled]. Fit must be set.
type ScaledOptions struct {
	// Fit are windows of the dataset. The scaling is fitted to all rows inside the bounds of their part,
	// also to those that no window has.
	Fit *Windows
	// Columns are the columns to scale, of numbers and without a scaling. Nil is all columns of numbers
	// that windows have by default.
	Columns []string
	// ScalePer is column, for one fit of all items, or item, for one fit of each; "" is column.
	ScalePer string
	// Progress, if not nil, is called several times a second. Job.BytesTotal is the size of the copy
	// and up to 64 KiB more.
	Progress func(Job)
}

// Scaled makes a scaled copy of the generation, or opens the one that exists. Scale is standard, minmax,
// robust or maxabs. The same spec and split on the copy give the same windows, and [Dataset.Inverse]
// undoes the scaling.
//
// The copy is a dataset of its own, whose name [Dataset.Name] returns. It takes about as much memory as
// the generation, and is removed with it. Rows cannot be appended to it.
//
// The error is of type InvalidRequest, with the option in Field, if a column is scaled already or is no
// number; of type InvalidSpec, with the field fit, if Fit are windows of another generation or those of
// [Windows.Latest]; and of type SourceError if a column, or an item of it, has values, but none in the rows
// of Fit. The context is as for [Cache.Load].
func (d *Dataset) Scaled(ctx context.Context, scale string, o ScaledOptions) (*Dataset, error) {
	if o.Fit == nil || o.Fit.data.Digest() != d.Digest() {
		return nil, errorf(InvalidSpec, "fit", "fit: want windows of generation %d of dataset %q", d.generation,
			d.name)
	}
	if o.Fit.isLatest() {
		return nil, errorf(InvalidSpec, "fit", "fit: want windows of a part, not the latest ones")
	}
	selection, err := o.Fit.selection()
	if err != nil {
		return nil, err
	}
	return d.cache.runJob(ctx, d.name, "/scaled", wire.Scaled{Selection: selection, Scale: scale,
		ScalePer: o.ScalePer, Columns: o.Columns}, o.Progress)
}
