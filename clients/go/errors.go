package tensorcache

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// Errors that are not an [Error].
var (
	// ErrNoDaemon is returned by Connect if no daemon runs, and none may be or could be started.
	ErrNoDaemon = control.ErrNoDaemon
	// ErrGone is returned if the daemon ended before it answered, or in the middle of an epoch.
	// [Feed.State] is still where to resume.
	ErrGone = control.ErrGone
	// ErrProtocol is returned if the daemon speaks other versions of the protocol, or sent something
	// that the protocol does not allow.
	ErrProtocol = control.ErrProtocol
	// ErrClosed is returned by methods of a feed or dataset that was closed.
	ErrClosed = errors.New("closed")
	// ErrPassOver is yielded by a pass over a feed if another pass has begun: a feed has one
	// stream.
	ErrPassOver = errors.New("another pass over the feed began")
	// ErrType is returned if the type parameter is not the Go type of the stored or delivered
	// values.
	ErrType = errors.New("other type")
)

// Type is the kind of an [Error]. A published type keeps its meaning; docs/HTTP.md lists all of
// them. It implements error, so that errors.Is(err, DatasetNotFound) works.
type Type string

// Types that a program may want to handle.
const (
	DatasetNotFound Type = wire.DatasetNotFound
	GenerationGone  Type = wire.GenerationGone
	ColumnNotFound  Type = wire.ColumnNotFound
	ItemNotFound    Type = wire.ItemNotFound
	InvalidSpec     Type = wire.InvalidSpec
	NoWindows       Type = wire.NoWindows
	InvalidRequest  Type = wire.InvalidRequest
	InvalidName     Type = wire.InvalidName
	SourceError     Type = wire.SourceError
	NoSpace         Type = wire.NoSpace
	Memory          Type = wire.Memory
	JobFailed       Type = wire.JobFailed
	Cancelled       Type = wire.Cancelled
	Corrupt         Type = wire.Corrupt
	FeedNotFound    Type = wire.FeedNotFound
	FeedClosed      Type = wire.FeedClosed
	CursorMismatch  Type = wire.CursorMismatch
	Forbidden       Type = wire.Forbidden
	TooLarge        Type = wire.TooLarge
	Busy            Type = wire.Busy
	ShuttingDown    Type = wire.ShuttingDown
)

// Error returns the type as a word.
func (t Type) Error() string { return string(t) }

// Error is a refusal, by the daemon or by this client.
type Error struct {
	Type   Type
	Detail string // where, what, and the value in quotes
	Hint   string // what to do; "" if there is no advice
	Field  string // the option, column or file at fault; "" if there is none
}

// Error returns the message to show, with the hint on a line of its own.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Detail
	}
	return e.Detail + "\nhint: " + e.Hint
}

// Is reports whether target is the error's Type.
func (e *Error) Is(target error) bool {
	t, ok := target.(Type)
	return ok && t == e.Type
}

// errorf returns an Error that this client found.
func errorf(typ Type, field, format string, args ...any) *Error {
	return &Error{Type: typ, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// clientError turns errors of internal packages into an Error, and returns other errors as they
// are.
func clientError(err error) error {
	var problem *wire.Problem
	var spec *window.SpecError
	switch {
	case errors.As(err, &problem):
		return &Error{Type(problem.Type), problem.Detail, problem.Hint, problem.Field}
	case errors.As(err, &spec):
		return &Error{Type: InvalidSpec, Detail: spec.Error(), Field: spec.Field}
	case errors.Is(err, sampler.ErrCursor):
		return &Error{Type: CursorMismatch, Detail: err.Error()}
	}
	return err
}

// parseErrorFrame returns the error in the payload of an ERROR frame.
func parseErrorFrame(payload []byte) error {
	var p wire.Problem
	if err := json.Unmarshal(payload, &p); err != nil || p.Type == "" {
		return fmt.Errorf("%w: an ERROR frame that is no problem: %.80q", ErrProtocol, payload)
	}
	return clientError(&p)
}
