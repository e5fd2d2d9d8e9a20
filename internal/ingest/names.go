package ingest

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/layout"
)

// Load options; see [option].
type (
	Options                 = option.Options
	Where                   = option.Where
	Fill                    = option.Fill
	Clip                    = option.Clip
	DTypes                  = option.DTypes
	PerColumn[T comparable] = option.PerColumn[T]
)

// FillWith fills missing values with a number.
func FillWith(v float64) Fill { return option.FillWith(v) }

// ByColumn sets the named columns, and with "*" the others.
func ByColumn[T comparable](by map[string]T) PerColumn[T] { return option.ByColumn(by) }

// ParseNumber reads a finite number of a recipe; see [option.ParseNumber].
func ParseNumber(text string) (float64, error) { return option.ParseNumber(text) }

// ErrRounded is returned for an integer of a recipe that float64 rounds.
var ErrRounded = option.ErrRounded

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

// Append says to which generation rows are appended; see [load].
type Append = load.Append

// AppendOptions returns the options with which sources are appended to a generation.
func AppendOptions(m *layout.Manifest, sources []string) (Options, error) {
	return load.AppendOptions(m, sources)
}

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
