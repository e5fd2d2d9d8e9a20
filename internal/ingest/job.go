package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/layout"
)

// Job is what the child is handed, as one line of JSON on its standard input.
type Job struct {
	// Dir is the load's own directory below tmp; it exists and is empty.
	Dir string `json:"dir"`
	option.Options
	// Within is the reach of the options, which these do not carry across the pipe.
	Within files.AllowedRoots `json:"within,omitzero"`
	// Put is set where the values come over a socket, which is the child's descriptor 3.
	Put *put.Header `json:"put,omitempty"`
	// Append is set where the rows go behind those of a generation; the options are that one's (see [AppendOptions]).
	Append *load.Append `json:"append,omitempty"`
	// MemoryLimit bounds the child's memory in bytes beyond the result; 0 lets Run derive it from the size of the sources and
	// the memory that is available.
	MemoryLimit int64 `json:"memory_limit,omitempty"`
	// Cores tells how many cores the child may use, as often as that changes; nil lets it have all.
	Cores <-chan int `json:"-"`
	// Room is told how many bytes the result and what is kept beside it take, as soon as that is known and whenever it grows; an error
	// ends the job. nil takes any.
	Room func(bytes int64) error `json:"-"`

	lastJob bool // the process ends with the job
}

// order is what the child is told while it works, one line of JSON after that of the job.
type command struct {
	Cores int `json:"cores"`
}

// answer is one line that the child writes.
type response struct {
	Progress *progress.Progress `json:"progress,omitempty"`
	Reading  *string            `json:"reading,omitempty"` // a source, or "" for none
	Need     int64              `json:"need,omitempty"`    // bytes that the job is going to take in the cache directory
	Done     bool               `json:"done,omitempty"`    // the manifest is in the directory
	Problem  *problem           `json:"problem,omitempty"`
}

// problem is an error that keeps its facts across the pipe.
type problem struct {
	Source  *loaderr.SourceError  `json:"source,omitempty"`
	Option  *loaderr.OptionError  `json:"option,omitempty"`
	NoSpace *loaderr.NoSpaceError `json:"no_space,omitempty"`
	Memory  string                `json:"memory,omitempty"`
	Schema  string                `json:"schema,omitempty"`
	Lost    string                `json:"lost,omitempty"`
	Other   string                `json:"other,omitempty"`
}

// toProblem takes an error apart.
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
	return &p
}

// error puts it together again.
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

func (a response) line() []byte {
	b, err := json.Marshal(a)
	if err != nil { // texts and numbers always marshal
		panic(err)
	}
	return append(b, '\n')
}
