package step

import (
	"context"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// Step is one step of one column. The values of a series go through the steps of the column in
// their order, a tile of at most [TileRows] rows at a time.
type Step interface {
	// fit fits the step to the values after the steps before it. If rows are appended, it takes
	// over what was fitted to the generation.
	fit(ctx context.Context, before []Step) error
	// isIdle reports, after fit, whether the step changes no value of the column.
	isIdle() bool
	// begin prepares for the rows of a series.
	begin(s series)
	// resume continues a series of the generation that rows are appended to. last is the last value
	// of the generation after the step, NaN if it is missing; resume returns it before the step. A
	// step that loses this value returns last.
	// It is also called without begin, and then only the result counts.
	resume(s series, last float64) float64
	// apply applies the step to the values of the series from a row on. to may be from, or the
	// memory of the source for these rows: a step reads the source only after the row it writes.
	apply(to, from []float64, row int64) error
	// record adds what was done to the result.
	record(r *Result)
}

// stepDefaults has the methods of a step that needs no fit and changes every value by itself.
type stepDefaults struct{}

func (stepDefaults) fit(context.Context, []Step) error     { return nil }
func (stepDefaults) isIdle() bool                          { return false }
func (stepDefaults) begin(series)                          {}
func (stepDefaults) resume(_ series, last float64) float64 { return last }

// kind is one kind of step.
type kind struct {
	name string // as in package option
	// open returns the step of a column for a setting of the kind.
	open func(r *columnRun, s option.Setting) Step
	// describe returns what the manifest of a column records of the step, "" if it was not done.
	describe func(c *layout.ManifestColumn) string
	// checkAppend refuses to append rows to a column of a generation; nil if the step can always
	// continue.
	checkAppend func(old *layout.ManifestColumn) error
	// join joins the records of a generation and of the rows appended to it; nil if the
	// generation's record is that of both.
	join func(j *join)
}

// kinds are all steps, in the order of package option.
var kinds = []kind{
	{name: "fill", open: newFill, describe: describeFill, join: joinFill},
	{name: "clip", open: newClip, describe: describeClip},
	{name: "log1p", open: newLog1p, describe: describeLog1p},
	{name: "diff", open: newDiff, describe: describeDiff, checkAppend: checkAppendDiff,
		join: joinDiff},
	{name: "winsorize", open: newWinsorize, describe: describeWinsorize, join: joinWinsorize},
	{name: "scale", open: newScale, describe: describeScale, join: joinScale},
}

// kindOf returns the kind of a setting.
func kindOf(s option.Setting) kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == s.Name() })
	return kinds[i] // a test compares the kinds with the options
}

// Describe returns the steps that a manifest records of a column, in their order, as text for
// people.
func Describe(c *layout.ManifestColumn) []string {
	var done []string
	for _, k := range kinds {
		if text := k.describe(c); text != "" {
			done = append(done, text)
		}
	}
	switch of := c.StepsOf; {
	case of == nil:
	case of.Changed:
		done = append(done, fmt.Sprintf("unknown, as part or cast of %s of %s", of.Column, of.Dataset))
	default:
		done = append(done, "as "+of.Column+" of "+of.Dataset)
	}
	return done
}

// Result is what the manifest records of the steps of a column.
type Result struct {
	Prepared *layout.Prepared // nil if there is no step but scale
	Scale    *layout.Scale    // nil without scale
}

// prepared returns the record of the steps before scale, to be added to.
func (r *Result) prepared() *layout.Prepared {
	if r.Prepared == nil {
		r.Prepared = &layout.Prepared{}
	}
	return r.Prepared
}

// CheckAppend refuses to append rows to a column of a generation if one of its steps cannot
// continue there. The error is a [loaderr.SourceError].
func CheckAppend(steps option.Steps, old *layout.ManifestColumn) error {
	for _, s := range steps {
		if check := kindOf(s).checkAppend; check != nil {
			if err := check(old); err != nil {
				return err
			}
		}
	}
	return nil
}
