package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Job is one load. The parent sends it to the child as one line of JSON on standard input.
type Job struct {
	// Dir is the directory of this load below tmp. It exists and is empty.
	Dir string `json:"dir"`
	option.Options
	// SentRoots is Options.AllowedRoots on the way to the child, because the JSON of the options
	// does not contain that field.
	SentRoots files.AllowedRoots `json:"within,omitzero"`
	// Put is set if the values come over a socket, which is the child's descriptor 3.
	Put *put.Header `json:"put,omitempty"`
	// Kept are the directories of the generations that columns of the put are of, by digest. They
	// must exist until the job ends.
	Kept map[string]string `json:"kept,omitempty"`
	// Append is set if the rows are appended to a generation. The options are then those of the
	// generation (see [AppendOptions]).
	Append *load.Append `json:"append,omitempty"`
	// Scaled is set if the job makes a scaled copy of a generation. The options are then zero.
	Scaled *load.Scaled `json:"scaled,omitempty"`
	// Ranges is true if the child must only find which bytes of staged files the job reads; see
	// [Runner.Ranges].
	Ranges bool `json:"ranges,omitempty"`
	// MemoryLimit is the largest memory of the child, in bytes, without the result. If it is 0, Run
	// derives it from the size of the sources and the available memory.
	MemoryLimit int64 `json:"memory_limit,omitempty"`
	// Cores sends the number of cores that the child may use, whenever it changes. If it is nil,
	// the child may use all cores.
	Cores <-chan int `json:"-"`
	// OnSpaceNeeded is called with the number of bytes that the result and the temporary files
	// beside it take, as soon as that number is known and whenever it grows. If OnSpaceNeeded
	// returns an error, the job ends with it. If OnSpaceNeeded is nil, the size is not limited.
	OnSpaceNeeded func(bytes int64) error `json:"-"`

	lastJob bool // the process ends after this job
}

// command is a line of JSON that the parent sends to the child after the job.
type command struct {
	Cores int `json:"cores"`
}

// response is a line of JSON that the child writes.
type response struct {
	Progress *progress.Progress `json:"progress,omitempty"`
	Reading  *string            `json:"reading,omitempty"` // the current source, or "" for none
	Need     int64              `json:"need,omitempty"`    // bytes needed in the cache directory
	Done     bool               `json:"done,omitempty"`    // the manifest is in the directory
	Problem  *problem           `json:"problem,omitempty"`
	Missing  []origin.Missing   `json:"missing,omitempty"` // with Done, for a job with Ranges
}

// problem is an error in JSON, with its fields. Exactly one field is set.
type problem struct {
	Source  *loaderr.SourceError  `json:"source,omitempty"`
	Option  *loaderr.OptionError  `json:"option,omitempty"`
	NoSpace *loaderr.NoSpaceError `json:"no_space,omitempty"`
	Memory  string                `json:"memory,omitempty"`
	Schema  string                `json:"schema,omitempty"`
	Lost    string                `json:"lost,omitempty"`
	Other   string                `json:"other,omitempty"`
}

// toProblem encodes an error.
func toProblem(err error) *problem {
	var p problem
	switch {
	case errors.As(err, &p.NoSpace), errors.As(err, &p.Source), errors.As(err, &p.Option):
	case errors.Is(err, syscall.ENOSPC):
		p.NoSpace = &loaderr.NoSpaceError{Text: err.Error()}
	case errors.Is(err, syscall.ENOMEM), errors.Is(err, loaderr.ErrMemory):
		p.Memory = err.Error()
	case errors.Is(err, layout.ErrSchema):
		p.Schema = err.Error()
	case errors.Is(err, mmapfile.ErrLost):
		p.Lost = err.Error()
	default:
		p.Other = err.Error()
	}
	p.shorten()
	return &p
}

// maxErrorText is the largest length of a text of an error, in bytes. A name in a source may have
// many MiB, and the daemon stores and logs the errors of jobs.
const maxErrorText = 4 << 10

// shorten cuts long texts that may be from a source.
func (p *problem) shorten() {
	texts := []*string{&p.Memory, &p.Schema, &p.Lost, &p.Other}
	if p.Source != nil {
		e := *p.Source
		p.Source = &e
		texts = append(texts, &e.Column, &e.Text, &e.Reason, &e.Hint)
	}
	if p.Option != nil {
		e := *p.Option
		p.Option = &e
		texts = append(texts, &e.Value, &e.Allowed, &e.Hint)
	}
	for _, text := range texts {
		if len(*text) > maxErrorText {
			*text = strings.ToValidUTF8((*text)[:maxErrorText], "") + "…"
		}
	}
}

// error returns the decoded error. It wraps the sentinel error of its field.
func (p *problem) error() error {
	switch {
	case p.NoSpace != nil:
		return p.NoSpace
	case p.Source != nil:
		return p.Source
	case p.Option != nil:
		return p.Option
	case p.Memory != "":
		return fmt.Errorf("%w: %s", loaderr.ErrMemory, p.Memory)
	case p.Schema != "":
		return &loaderr.Reported{Text: p.Schema, Err: layout.ErrSchema}
	case p.Lost != "":
		return &loaderr.Reported{Text: p.Lost, Err: mmapfile.ErrLost}
	}
	return errors.New(p.Other)
}

// line returns the response as a line of JSON, with a newline at the end.
func (a response) line() []byte {
	b, err := json.Marshal(a)
	if err != nil { // texts and numbers always marshal
		panic(err)
	}
	return append(b, '\n')
}
