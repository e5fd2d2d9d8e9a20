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

// Errors that are not a refusal of the daemon's.
var (
	// ErrNoDaemon is returned by Connect when no daemon runs and none may be started, or it could
	// not be.
	ErrNoDaemon = control.ErrNoDaemon
	// ErrGone is returned when the daemon went away before it answered, or in the middle of an
	// epoch: [Feed.State] still says where to go on.
	ErrGone = control.ErrGone
	// ErrProtocol is returned when the daemon speaks another version of the protocol, or sent what
	// the protocol does not allow.
	ErrProtocol = control.ErrProtocol
	// ErrClosed is returned by what was closed.
	ErrClosed = errors.New("closed")
	// ErrPassOver is yielded by a pass over a feed when another one has begun: a feed is one
	// stream.
	ErrPassOver = errors.New("another pass over the feed began")
	// ErrType is returned when values are asked for as another Go type than they are stored or
	// delivered as.
	ErrType = errors.New("other type")
)

// Type is what kind of refusal an [Error] is. A type, once published, keeps its meaning;
// docs/HTTP.md lists them. It is an error itself, so that errors.Is(err, DatasetNotFound) asks for
// it.
type Type string

// The types that a program may want to tell apart.
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

// Error is the type as a word.
func (t Type) Error() string { return string(t) }

// Error is what was refused, by the daemon or here.
type Error struct {
	Type   Type
	Detail string // where, what, and the value in quotes
	Hint   string // what to do; "" where there is nothing to say
	Field  string // the option, column or file that is to blame; "" where there is none
}

// Error is the message to show, with the hint in a line of its own.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Detail
	}
	return e.Detail + "\nhint: " + e.Hint
}

// Is makes errors.Is(err, DatasetNotFound) true for an error of that type.
func (e *Error) Is(target error) bool {
	t, ok := target.(Type)
	return ok && t == e.Type
}

// refuse is an Error that was found here.
func refuse(typ Type, field, format string, args ...any) *Error {
	return &Error{Type: typ, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// ours turns the errors of rooms that users cannot name into an Error; others stay as they are.
func ours(err error) error {
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

// problemOf is the error that an ERROR frame stands for.
func problemOf(payload []byte) error {
	var p wire.Problem
	if err := json.Unmarshal(payload, &p); err != nil || p.Type == "" {
		return fmt.Errorf("%w: an ERROR frame that is no problem: %.80q", ErrProtocol, payload)
	}
	return ours(&p)
}
