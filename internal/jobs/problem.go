package jobs

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/problem"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// memoryHint returns the hint for a load that ran out of memory.
func memoryHint(err error) string {
	if e := (*ingest.MemoryError)(nil); errors.As(err, &e) {
		return e.Hint
	}
	return "load fewer columns, or a file with smaller row groups"
}

// hintFor returns the hint for a source error that has none. Rows that a client sends have no path.
func hintFor(e *ingest.SourceError) string {
	what, again := "correct the file", "load it again"
	if e.Path == "" {
		what, again = "correct the rows", "send them again"
	}
	if e.Column != "" {
		return what + ", or leave the column out with `columns`"
	}
	return what + " and " + again
}

// ProblemOf returns an error as clients see it. It knows the errors of loads; for all others it
// calls [problem.Of].
func ProblemOf(err error) *wire.Problem {
	var source *ingest.SourceError
	var option *ingest.OptionError
	var space *ingest.NoSpaceError
	switch {
	case errors.As(err, &source):
		typ := wire.SourceError
		if source.NotAllowed {
			typ = wire.Forbidden
		}
		p := wire.NewProblem(typ, "%s", source.Error()).WithField("sources")
		if p.Hint = source.Hint; p.Hint == "" {
			p.Hint = hintFor(source)
		}
		return p
	case errors.As(err, &option):
		typ := wire.InvalidRequest
		switch {
		case option.Column:
			typ = wire.ColumnNotFound
		case option.Item:
			typ = wire.ItemNotFound
		}
		p := wire.NewProblem(typ, "%s", option.Error()).WithField(option.Field)
		p.Hint = option.Hint
		return p
	case errors.As(err, &space):
		return wire.NewProblem(wire.NoSpace, "%s", space.Error()).
			WithHint("free some space, or move the cache directory with `dir` or TENSORCACHE_DIR")
	case errors.Is(err, context.Canceled):
		return wire.NewProblem(wire.Cancelled, "the load was cancelled").
			WithHint("start it again; nothing was changed")
	case errors.Is(err, ingest.ErrMemory):
		return wire.NewProblem(wire.Memory, "%s", err).
			WithHint("%s", memoryHint(err))
	case errors.Is(err, ingest.ErrKilled):
		return wire.NewProblem(wire.JobFailed, "%s", err).
			WithHint("load it again; nothing was changed")
	}
	return problem.Of(err)
}
