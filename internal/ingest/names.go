package ingest

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
)

// Errors of a load; see [loaderr].
type (
	SourceError  = loaderr.SourceError
	OptionError  = loaderr.OptionError
	NoSpaceError = loaderr.NoSpaceError
)

// Sentinel errors of a load; see [loaderr].
var (
	ErrSource  = loaderr.ErrSource
	ErrOption  = loaderr.ErrOption
	ErrNoSpace = loaderr.ErrNoSpace
	ErrMemory  = loaderr.ErrMemory
	ErrKilled  = loaderr.ErrKilled
)

// Progress is how far a load is; see [progress].
type Progress = progress.Progress

// PhaseHash is the phase in which the sources are hashed.
const PhaseHash = progress.Hash

// Reach limits which files may be sources; see [files].
type Reach = files.Reach

// What comes over the connection of a put; see [put].
type (
	Put       = put.Header
	PutColumn = put.Column
)

// Formats of a put.
const (
	FormatColumns = put.FormatColumns
	FormatArrow   = put.FormatArrow
)
