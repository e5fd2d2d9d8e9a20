package ingest

import "github.com/tensorcache/tensorcache/internal/ingest/loaderr"

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
