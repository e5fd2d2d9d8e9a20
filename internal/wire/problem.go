// Package wire contains the messages between the daemon and its clients: problems, frames and JSON
// bodies.
//
// docs/PROTOCOL.md and docs/HTTP.md describe them for other languages. The daemon, the command line
// and the Go client import this package, so that a field has one name.
package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problem is an error as clients see it (RFC 9457, application/problem+json). Its Type is stable.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	Field  string `json:"field,omitempty"`
}

// Error returns the message without the hint.
func (p *Problem) Error() string { return p.Detail }

// kind is the title and the HTTP status of a type of problem.
type kind struct {
	title  string
	status int
}

// Types of problems. The meaning of a published type never changes.
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

// Limits of the details and fields of problems, in bytes. They quote values that the daemon
// refuses, which may have megabytes.
const (
	maxDetail = 4000
	maxField  = 200
	detailEnd = 800 // kept from the end of a detail, which says what is allowed
)

// NewProblem returns a problem of a known type. It removes the middle of a very long detail.
func NewProblem(typ, format string, args ...any) *Problem {
	k, ok := kinds[typ]
	if !ok {
		typ, k = Internal, kinds[Internal]
	}
	return &Problem{Type: typ, Title: k.title, Status: k.status,
		Detail: shorten(fmt.Sprintf(format, args...), maxDetail, detailEnd)}
}

// shorten removes the middle of a text that has more than limit bytes. It keeps end bytes of its
// end.
func shorten(text string, limit, end int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-end], "") + "…" +
		strings.ToValidUTF8(text[len(text)-end:], "")
}

// WithHint adds what the user can do, and returns p.
func (p *Problem) WithHint(format string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// WithField adds the name of the invalid field, and returns p.
func (p *Problem) WithField(field string) *Problem {
	p.Field = shorten(field, maxField, 0)
	return p
}
