package ingest

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// Load options; see [option].
type (
	Options = option.Options
	Where   = option.Where
	DTypes  = option.DTypes
)

// StepFlag is the command line flag of a step; see [option.StepFlag].
type StepFlag = option.StepFlag

// StepFlags returns the flags of all steps, which set options.
func StepFlags(o *Options) []StepFlag { return option.StepFlags(o) }

// DescribeSteps returns the steps that a manifest records of a column, in their order.
func DescribeSteps(c *layout.ManifestColumn) []string { return step.Describe(c) }

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

// AllowedRoots limits which files may be sources; see [files].
type AllowedRoots = files.AllowedRoots

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
