package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

func TestAnErrorOfALoadHasItsType(t *testing.T) {
	for _, test := range []struct {
		err error
		typ string
	}{
		{&ingest.SourceError{Path: "a.csv", Row: 3, Reason: "is torn", Hint: "mend it"},
			wire.SourceError},
		{&ingest.OptionError{Field: "scale", Value: "x", Allowed: "y"}, wire.InvalidRequest},
		{&ingest.OptionError{Field: "columns", Value: "x", Column: true}, wire.ColumnNotFound},
		{fmt.Errorf("lay out: %w", &ingest.NoSpaceError{Dir: "/d", Need: 2, Have: 1}),
			wire.NoSpace},
		{fmt.Errorf("publish: %w", unix.ENOSPC), wire.NoSpace},
		{fmt.Errorf("publish: %w", unix.EDQUOT), wire.NoSpace},
		{fmt.Errorf("%w: 3 GiB", ingest.ErrMemory), wire.Memory},
		{fmt.Errorf("%w: signal 9", ingest.ErrKilled), wire.JobFailed},
		{context.Canceled, wire.Cancelled},
		{store.ErrClosed, wire.ShuttingDown},
		{errors.New("what?"), wire.Internal},
	} {
		if p := ProblemOf(test.err); p.Type != test.typ || p.Detail == "" {
			t.Errorf("%v: got %+v, want %s", test.err, p, test.typ)
		}
	}
}

func TestTheHintOfAMemoryErrorReachesClients(t *testing.T) {
	err := fmt.Errorf("a.parquet: %w", &ingest.MemoryError{Err: ingest.ErrMemory, Hint: "wait"})
	if p := ProblemOf(err); p.Type != wire.Memory || p.Hint != "wait" {
		t.Errorf("got %+v", p)
	}
}

// TestRowsThatAreSentAreNoFile compares the hints for errors of files and of rows from a client.
func TestRowsThatAreSentAreNoFile(t *testing.T) {
	for hint, err := range map[string]ingest.SourceError{
		"correct the file and load it again":                       {Path: "a.csv"},
		"correct the file, or leave the column out with `columns`": {Path: "a.csv", Column: "a"},
		"correct the rows and send them again":                     {},
		"correct the rows, or leave the column out with `columns`": {Column: "a"},
		"mend it": {Column: "a", Hint: "mend it"},
	} {
		if p := ProblemOf(&err); p.Hint != hint {
			t.Errorf("%+v: got hint %q, want %q", err, p.Hint, hint)
		}
	}
}
