package jobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// Scaled starts a job that makes a scaled copy of a generation, fitted to the rows of a part. The
// copy is a dataset of its own, whose name the job has. Scaled joins a job that makes the same, and
// returns a hit if the copy exists.
func (m *Manager) Scaled(dataset string, r wire.Scaled) (wire.Job, error) {
	if r.ScalePer == "" {
		r.ScalePer = ingest.ScalePerColumn
	}
	if err := ingest.CheckScale(r.Scale, r.ScalePer); err != nil {
		return wire.Job{}, err
	}
	h, w, err := m.openToScale(dataset, r.Selection)
	if err != nil {
		return wire.Job{}, err
	}
	defer h.Release()
	r.Generation, r.Digest = h.Generation, h.Data.Manifest.Digest
	of := layout.ScaledOf{Dataset: dataset, Digest: r.Digest, Scale: r.Scale, ScalePer: r.ScalePer}
	if of.Columns, err = columnsToScale(h.Data.Manifest, r.Columns); err != nil {
		return wire.Job{}, err
	}
	if of.Part, err = partOf(w.Index); err != nil {
		return wire.Job{}, err
	}
	name, err := nameOfCopy(of)
	if err != nil {
		return wire.Job{}, err
	}
	copied, err := m.findCopy(name, of)
	if err != nil {
		return wire.Job{}, err
	}
	if copied.Manifest != nil {
		hit := hitJob(wire.ScaleJob, name, copied.Generation, copied.Manifest)
		hit.Bytes, hit.BytesTotal = copied.Bytes(), copied.Bytes()
		return hit, nil
	}
	first := wire.Job{Kind: wire.ScaleJob, Dataset: name,
		BytesTotal: ingest.ScaledBytes(h.Data.Manifest, of.Columns)}
	return m.startJob(first, fmt.Sprint("scale ", name, of.Digest), func(ctx context.Context, job *Job) (result, error) {
		made, err := m.scale(ctx, job, r.Selection, of)
		if e := (*ingest.SourceError)(nil); errors.As(err, &e) { // its field is that of a load
			err = ProblemOf(err).WithField("columns")
		}
		return made, err
	})
}

// openToScale acquires the generation of a selection, and returns its windows.
func (m *Manager) openToScale(dataset string, s wire.Selection) (*store.Handle, *plan.Windows, error) {
	h, err := plan.Acquire(m.store, dataset, s.Generation, s.Digest)
	if err != nil {
		return nil, nil, err
	}
	w, err := plan.New(h, s.Spec, s.Cuts)
	of := h.Data.Manifest.ScaledOf
	switch {
	case err != nil:
	case w.Index.IsLatest():
		err = &ingest.OptionError{Field: "cuts", Allowed: "windows of a part, not the latest ones"}
	case of != nil:
		err = wire.NewProblem(wire.InvalidRequest, "dataset %q is a scaled copy of %q", dataset,
			of.Dataset).WithField("dataset").WithHint("scale that dataset, with all columns at once")
	default:
		err = m.checkPublished(h)
	}
	if err != nil {
		h.Release()
		return nil, nil, err
	}
	return h, w, nil
}

// checkPublished returns an error that wraps [store.ErrNotFound] or [store.ErrGone] if the generation was
// removed. A process that has it open can still read it, but no other process can open its files.
func (m *Manager) checkPublished(h *store.Handle) error {
	i, err := m.store.Dataset(h.Dataset)
	if err == nil && !slices.Contains(i.Generations, h.Generation) {
		err = fmt.Errorf("%w: generation %d of %q; the newest is %d", store.ErrGone, h.Generation, h.Dataset,
			i.Generation)
	}
	return err
}

// scale makes a copy, unless another job has made it meanwhile.
func (m *Manager) scale(ctx context.Context, job *Job, s wire.Selection, of layout.ScaledOf) (result, error) {
	copied, err := m.findCopy(job.state.Dataset, of)
	if err != nil || copied.Manifest != nil {
		return result{copied.Generation, copied.Manifest, true}, err
	}
	h, w, err := m.openToScale(of.Dataset, s)
	if err != nil {
		return result{}, err
	}
	defer h.Release()
	scaled := &ingest.Scaled{Dir: h.Data.Dir, Of: of, Fit: make([][2]int64, w.Index.Items())}
	for item := range scaled.Fit {
		scaled.Fit[item][0], scaled.Fit[item][1] = w.Index.Range(int64(item))
	}
	made, err := m.runLoad(ctx, job, ingest.Job{Scaled: scaled}, nil, 0)
	if err != nil {
		_, taken := m.findCopy(job.state.Dataset, of)
		err = cmp.Or(m.checkPublished(h), taken, err)
	}
	return made, err
}

// findCopy returns the dataset of a name if it is the copy and can be opened; otherwise its manifest is
// nil. It refuses a name that another dataset has.
func (m *Manager) findCopy(name string, of layout.ScaledOf) (store.Info, error) {
	i, err := m.store.Dataset(name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Info{}, nil
	case err != nil:
		return store.Info{}, err
	case !i.Manifest.ScaledOf.IsOf(of.Dataset):
		return store.Info{}, wire.NewProblem(wire.InvalidRequest, "dataset %q is no scaled copy of %q, but has the "+
			"name of this one", name, of.Dataset).WithField("dataset").WithHint("remove it, and put it under another name")
	case !isCopy(i.Manifest, of):
		return store.Info{}, nil
	}
	h, err := m.store.Acquire(name, i.Generation)
	if err != nil {
		return store.Info{}, nil // its files are damaged: make it again
	}
	h.Release()
	return i, nil
}

// isCopy reports whether a manifest is that of the copy.
func isCopy(m *layout.Manifest, of layout.ScaledOf) bool {
	have := *m.ScaledOf
	have.FitRows = layout.ListFile{}
	a, err := json.Marshal(have)
	b, err2 := json.Marshal(of)
	return err == nil && err2 == nil && string(a) == string(b)
}

// columnsToScale returns the names of the columns, in the order of the dataset. Nil asks for all
// columns of numbers that windows have by default. Columns that are scaled already are refused.
func columnsToScale(m *layout.Manifest, asked []string) (names []string, err error) {
	var numbers, scaled []string
	for _, c := range m.Columns {
		isNumber := c.Role == layout.RoleValue && c.DType.IsNumeric() && c.DType != layout.Bool
		if isNumber {
			numbers = append(numbers, c.Name)
		}
		if asked == nil && isNumber && c.InDefaultWindows() || slices.Contains(asked, c.Name) {
			if names = append(names, c.Name); c.Scale != nil || c.StepsOf != nil && c.StepsOf.Changed {
				scaled = append(scaled, c.Name)
			}
		}
	}
	for _, name := range asked {
		if !slices.Contains(numbers, name) {
			allowed := near.Names(name, numbers)
			if len(allowed) == 0 {
				allowed = numbers
			}
			return nil, &ingest.OptionError{Field: "columns", Value: name,
				Allowed: "columns of numbers: " + near.List(allowed)}
		}
	}
	switch {
	case len(scaled) > 0:
		return nil, &ingest.OptionError{Field: "columns", Value: scaled[0],
			Allowed: "columns without a scaling; scaled already are " + near.List(scaled),
			Hint:    "name the other columns, or load the dataset without scale"}
	case len(names) == 0:
		return nil, &ingest.OptionError{Field: "columns", Allowed: "at least one column of numbers"}
	}
	return names, nil
}

// partOf returns, as JSON, what decides which rows belong to the part of an index.
func partOf(x *window.Index) (json.RawMessage, error) {
	part := struct {
		Rows *window.Bounds     `json:"rows,omitempty"`
		Time *window.TimeBounds `json:"time,omitempty"`
		Cuts []window.Cut       `json:"cuts"`
	}{x.Spec().Rows, x.Spec().Time, x.Cuts()}
	for i, c := range part.Cuts { // the order of items and the start of contexts do not matter
		if c.Where != nil {
			where := *c.Where
			where.Items = slices.Clone(where.Items)
			slices.Sort(where.Items)
			where.ContextBeforeSplit, part.Cuts[i].Where = nil, &where
		}
		if c.Split != nil {
			split := *c.Split
			split.ContextBeforeSplit, part.Cuts[i].Split = nil, &split
		}
	}
	if part.Cuts == nil {
		part.Cuts = []window.Cut{}
	}
	return json.Marshal(part)
}

// nameOfCopy returns the name of the dataset of a scaled copy, which depends on all but the digest of
// the generation: the copy of the next generation takes its place.
func nameOfCopy(of layout.ScaledOf) (string, error) {
	of.Digest = ""
	b, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%.80s.%s-%x", of.Dataset, of.Scale, sum[:4]), nil
}
