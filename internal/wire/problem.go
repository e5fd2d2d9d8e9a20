// Package wire is what passes between daemon and clients: problems, frames and JSON bodies.
//
// docs/PROTOCOL.md and docs/HTTP.md describe it for other languages. Both sides of this program
// import it, so that a field has one name.
package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problem is an error as clients see it (RFC 9457, application/problem+json). Type is stable.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	Field  string `json:"field,omitempty"`
}

// Error is the message to show; the hint stands apart.
func (p *Problem) Error() string { return p.Detail }

// A kind of problem: its title and status.
type kind struct {
	title  string
	status int
}

// The types of problems. A type, once published, keeps its meaning.
const (
	DatasetNotFound  = "dataset_not_found"
	GenerationGone   = "generation_gone"
	ColumnNotFound   = "column_not_found"
	ItemNotFound     = "item_not_found"
	InvalidSpec      = "invalid_spec"
	NoWindows        = "no_windows"
	InvalidRequest   = "invalid_request"
	InvalidName      = "invalid_name"
	SourceError      = "source_error"
	NoSpace          = "no_space"
	Memory           = "memory"
	JobFailed        = "job_failed"
	JobNotFound      = "job_not_found"
	Cancelled        = "cancelled"
	Corrupt          = "corrupt"
	FeedNotFound     = "feed_not_found"
	FeedClosed       = "feed_closed"
	CursorMismatch   = "cursor_mismatch"
	ProtocolMismatch = "protocol_mismatch"
	ProtocolError    = "protocol_error"
	Unauthorized     = "unauthorized"
	Forbidden        = "forbidden"
	NotFound         = "not_found"
	MethodNotAllowed = "method_not_allowed"
	TooLarge         = "too_large"
	UnsupportedMedia = "unsupported_media_type"
	Timeout          = "timeout"
	Busy             = "busy"
	ShuttingDown     = "shutting_down"
	Internal         = "internal"
)

var kinds = map[string]kind{
	DatasetNotFound:  {"dataset not found", 404},
	GenerationGone:   {"generation is gone", 410},
	ColumnNotFound:   {"column not found", 404},
	ItemNotFound:     {"item not found", 404},
	InvalidSpec:      {"invalid window spec", 422},
	NoWindows:        {"no window exists", 422},
	InvalidRequest:   {"invalid request", 400},
	InvalidName:      {"not a dataset name", 400},
	SourceError:      {"source cannot be loaded", 422},
	NoSpace:          {"no space left", 507},
	Memory:           {"not enough memory", 507},
	JobFailed:        {"job failed", 500},
	JobNotFound:      {"job not found", 404},
	Cancelled:        {"cancelled", 409},
	Corrupt:          {"data is damaged", 409},
	FeedNotFound:     {"feed not found", 404},
	FeedClosed:       {"feed was closed", 409},
	CursorMismatch:   {"cursor does not fit", 409},
	ProtocolMismatch: {"other protocol version", 426},
	ProtocolError:    {"protocol error", 400},
	Unauthorized:     {"not logged in", 401},
	Forbidden:        {"forbidden", 403},
	NotFound:         {"no such route", 404},
	MethodNotAllowed: {"method not allowed", 405},
	TooLarge:         {"request is too large", 413},
	UnsupportedMedia: {"unsupported media type", 415},
	Timeout:          {"request came too slowly", 408},
	Busy:             {"daemon is busy", 503},
	ShuttingDown:     {"daemon is shutting down", 503},
	Internal:         {"internal error", 500},
}

// Types lists the types of problems, sorted.
func Types() []string { return slices.Sorted(maps.Keys(kinds)) }

// How long a detail and a field may be, in bytes: they quote what they refuse, which may be a body
// of megabytes.
const (
	longestDetail = 4000
	longestField  = 200
	keptEnd       = 800 // of a detail, which says there what is wanted
)

// NewProblem makes a problem of a known type. The middle of a detail that is too long to read is
// left out.
func NewProblem(typ, format string, args ...any) *Problem {
	k, ok := kinds[typ]
	if !ok {
		typ, k = Internal, kinds[Internal]
	}
	return &Problem{Type: typ, Title: k.title, Status: k.status,
		Detail: shortened(fmt.Sprintf(format, args...), longestDetail, keptEnd)}
}

// shortened leaves the middle of a text out where it is longer than most bytes, and keeps so much
// of its end.
func shortened(text string, most, end int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-end], "") + "…" +
		strings.ToValidUTF8(text[len(text)-end:], "")
}

// WithHint adds what to do about it.
func (p *Problem) WithHint(format string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// WithField names the field at fault.
func (p *Problem) WithField(field string) *Problem {
	p.Field = shortened(field, longestField, 0)
	return p
}
