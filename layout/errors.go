package layout

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// Errors of creating and opening a generation.
var (
	// ErrName is returned by CheckName for a name that no dataset may have.
	ErrName = errors.New("not a dataset name")
	// ErrTorn is returned by Open when a file is missing, shorter than the manifest says, or disagrees with it.
	ErrTorn = arrowfile.ErrTorn
	// ErrFormat is returned by Open for a manifest of another format version.
	ErrFormat = errors.New("generation has another format")
	// ErrChecksum is wrapped by every [DamageError]: what Check and Verify return where files are not what was written.
	ErrChecksum = errors.New("checksum differs")
	// ErrColumn is returned when a generation has no column of the name.
	ErrColumn = errors.New("column not found")
	// ErrSchema is returned by Create for columns that cannot be laid out.
	ErrSchema = errors.New("columns cannot be laid out")
)
