package ingest

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
)

// Memory of the child beyond the result, which is a mapped file.
const (
	// memoryLeast is what no load does without: with 96 MiB 11 of 25 loads of a single row ended in Go's runtime, before they had
	// read anything, with 112 MiB none.
	minMemory = 128 << 20
	// memoryBase and memoryPerByte times the sources are more than any sound source takes.
	baseMemory    = 512 << 20
	memoryPerByte = 4
	maxMemory     = 16 << 30
)

// memoryLimit is how much memory a job's child may take of what there is: more than a sound source asks for, and never so
// much that the system would have to end somebody. The error wraps ErrMemory and says need and have.
func memoryLimit(j Job, available int64) (int64, error) {
	if available < minMemory {
		return 0, fmt.Errorf("%w before it began: need %s, have %s", loaderr.ErrMemory, humanize.IBytes(minMemory), humanize.IBytes(uint64(available)))
	}
	limit := int64(baseMemory)
	sources, _ := j.AllowedRoots.Stat(j.Sources) // what cannot be read is refused later
	for _, s := range sources {
		limit += memoryPerByte * s.Bytes
	}
	if j.Put != nil && j.Put.Format == put.FormatArrow {
		limit = maxMemory // how much comes is not known
	} else if j.Put != nil {
		for _, c := range j.Put.Columns {
			limit += memoryPerByte * min(max(0, c.Bytes), maxMemory)
		}
	}
	return min(limit, maxMemory, available), nil
}
