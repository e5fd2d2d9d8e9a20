// Package problem turns the errors of the packages below the daemon's sockets into problems, as
// clients see them: a type, a message, the field at fault and what to do.
package problem

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// sentinels has the type of problem for each error of the packages below. The first match counts.
var sentinels = []struct {
	err        error
	typ, field string
	hint       string
}{
	{store.ErrNotFound, wire.DatasetNotFound, "dataset", "tensorcache ls lists them"},
	{store.ErrGone, wire.GenerationGone, "generation", "open the dataset again to get the newest"},
	{store.ErrDigest, wire.GenerationGone, "digest",
		"load the same files again, or open the dataset without a digest"},
	{store.ErrSuperseded, wire.GenerationGone, "dataset",
		"another client made a new generation meanwhile; send the rows again"},
	{store.ErrMemory, wire.Memory, "",
		"unload or unpin other datasets, close feeds, load fewer columns, " +
			"or give the daemon more with TENSORCACHE_MEMORY"},
	{store.ErrClosed, wire.ShuttingDown, "", "connect again to start a new daemon"},
	{mmapfile.ErrClosed, wire.ShuttingDown, "", "connect again to start a new daemon"},
	{layout.ErrName, wire.InvalidName, "dataset", ""},
	{layout.ErrSchema, wire.InvalidRequest, "", ""},
	{layout.ErrTorn, wire.GenerationGone, "generation",
		"its files were damaged; load the dataset again"},
	{layout.ErrChecksum, wire.GenerationGone, "generation",
		"its files were damaged; load the dataset again"},
	{mmapfile.ErrLost, wire.Corrupt, "dataset",
		"remove the dataset and load it again from its sources; " +
			"tensorcache verify names all that is damaged"},
	{layout.ErrColumn, wire.ColumnNotFound, "column", ""},
	{window.ErrNoWindows, wire.NoWindows, "",
		"a smaller `context_length` or `prediction_length` needs fewer rows"},
	{sampler.ErrCursor, wire.CursorMismatch, "cursor",
		"resume with the dataset, spec and order that the state was saved with"},
	{sampler.ErrNoBatches, wire.NoWindows, "", ""},
	{wire.ErrFrame, wire.ProtocolError, "", ""},
	{unix.ENOSPC, wire.NoSpace, "",
		"free some space, or move the cache directory with `dir` or TENSORCACHE_DIR"},
	{unix.EDQUOT, wire.NoSpace, "",
		"free some space, or move the cache directory with `dir` or TENSORCACHE_DIR"},
	{unix.ENOMEM, wire.Memory, "", "use fewer slots or a smaller `batch_size`"},
}

// Of returns an error as clients see it. It returns a *wire.Problem as it is.
func Of(err error) *wire.Problem {
	var p *wire.Problem
	var spec *window.SpecError
	var option *sampler.OptionError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &spec):
		return wire.NewProblem(wire.InvalidSpec, "%s", spec.Error()).WithField(spec.Field)
	case errors.As(err, &option):
		typ := wire.InvalidSpec
		if errors.Is(err, sampler.ErrNoBatches) {
			typ = wire.NoWindows
		}
		return wire.NewProblem(typ, "%s", option.Error()).WithField(option.Field)
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			p := wire.NewProblem(s.typ, "%s", message(err, s.err))
			p.Field, p.Hint = s.field, s.hint
			return p
		}
	}
	return wire.NewProblem(wire.Internal, "%s", err)
}

// OfLost returns err, or a problem that names the dataset if err says that a file of it can no
// longer be read.
func OfLost(h *store.Handle, err error) error {
	if !errors.Is(err, mmapfile.ErrLost) {
		return err
	}
	return wire.NewProblem(wire.Corrupt, "%s, generation %d: %s", h.Dataset, h.Generation, err).
		WithField("dataset").
		WithHint("tensorcache rm %s, then load it again from its sources", h.Dataset)
}

// message returns the error's text without the sentinel's, which the problem's title repeats. For
// ErrNoWindows it is the whole message.
func message(err, sentinel error) string {
	if sentinel == window.ErrNoWindows {
		return err.Error()
	}
	return strings.TrimPrefix(err.Error(), sentinel.Error()+": ")
}
