package ingest

import (
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Load options; see [option].
type (
	Options = option.Options
	Where   = option.Where
	DTypes  = option.DTypes
	Melt    = option.Melt
)

// Values of the load option melt.
const (
	MeltColumns = option.MeltColumns
	MeltRows    = option.MeltRows
)

// StepFlag is the command line flag of a step; see [option.StepFlag].
type StepFlag = option.StepFlag

// StepFlags returns the command line flags of all steps. The flags set fields of o.
func StepFlags(o *Options) []StepFlag { return option.StepFlags(o) }

// DescribeSteps returns the steps that the manifest records for a column, in order of execution.
func DescribeSteps(c *layout.ManifestColumn) []string { return step.Describe(c) }

// Error types of a load; see [loaderr].
type (
	SourceError  = loaderr.SourceError
	OptionError  = loaderr.OptionError
	NoSpaceError = loaderr.NoSpaceError
	MemoryError  = loaderr.MemoryError
)

// Sentinel errors of a load; see [loaderr].
var (
	ErrSource  = loaderr.ErrSource
	ErrOption  = loaderr.ErrOption
	ErrNoSpace = loaderr.ErrNoSpace
	ErrMemory  = loaderr.ErrMemory
	ErrKilled  = loaderr.ErrKilled
)

// Progress is the progress of a load; see [progress].
type Progress = progress.Progress

// PhaseHash is the name of the phase in which a load hashes the sources.
const PhaseHash = progress.Hash

// AllowedRoots limits which files may be sources; see [files.AllowedRoots].
type AllowedRoots = files.AllowedRoots

// NewStaged returns the staged files of a request; see [files.NewStaged].
func NewStaged(list origin.Files) *files.Staged { return files.NewStaged(list) }

// Append identifies the generation to which a load appends rows; see [load.Append].
type Append = load.Append

// Scaled identifies the generation of which a scaled copy is made; see [load.Scaled].
type Scaled = load.Scaled

// ScaledBytes returns about the number of bytes of a scaled copy; see [load.ScaledBytes].
func ScaledBytes(m *layout.Manifest, columns []string) int64 { return load.ScaledBytes(m, columns) }

// ScalePerColumn is the default of the option scale_per.
const ScalePerColumn = option.ScalePerColumn

// CheckScale refuses values of the options scale and scale_per that no column can have, and a scale
// that does nothing. The error is an [OptionError].
func CheckScale(scale, per string) error { return option.CheckScale(scale, per) }

// AppendOptions returns the options of a load that appends sources to a generation.
func AppendOptions(m *layout.Manifest, sources []string) (Options, error) {
	return load.AppendOptions(m, sources)
}

// Header of a put and its columns; see [put].
type (
	Put       = put.Header
	PutColumn = put.Column
)

// Formats of the values of a put.
const (
	FormatColumns = put.FormatColumns
	FormatArrow   = put.FormatArrow
)
