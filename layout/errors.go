package layout

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// Errors of creating and opening a generation.
var (
	// ErrName is returned by CheckName for a name that is not allowed for a dataset.
	ErrName = errors.New("not a dataset name")
	// ErrTorn is returned by Open when a file is missing or does not agree with the manifest.
	ErrTorn = arrowfile.ErrTorn
	// ErrFormat is returned by Open for a manifest of another format version.
	ErrFormat = errors.New("generation has another format")
	// ErrChecksum is wrapped by every [DamageError], which Check and Verify return when files
	// differ from what was written.
	ErrChecksum = errors.New("checksum differs")
	// ErrNotStored is returned by FilledCells for a generation of version 0.1.
	ErrNotStored = errors.New("version 0.1 did not store which values of a row were filled")
	// ErrColumn is returned when a generation has no column of that name.
	ErrColumn = errors.New("column not found")
	// ErrSchema is returned by Create for columns that the format cannot store.
	ErrSchema = errors.New("columns cannot be laid out")
)
