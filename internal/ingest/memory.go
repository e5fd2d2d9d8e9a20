package ingest

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
)

// Memory of the child, without the result, which is a mapped file.
const (
	// minMemory is the least memory, in bytes, with which every load can start. With 96 MiB, Go's
	// runtime ended 11 of 25 loads of a single row before they read anything; with 112 MiB, none.
	minMemory = 128 << 20
	// baseMemory plus memoryPerByte times the bytes of the sources is more than the load of any
	// undamaged source takes. maxMemory is the largest limit.
	baseMemory    = 512 << 20
	memoryPerByte = 4
	maxMemory     = 16 << 30
)

// memoryLimit returns the memory limit of a job's child, in bytes: enoughMemory, or less if less is
// available, so that the system's OOM killer does not have to end a process. If less than minMemory
// is available, the error wraps ErrMemory and states both numbers.
func memoryLimit(j Job, available int64) (int64, error) {
	if available < minMemory {
		return 0, &loaderr.MemoryError{
			Err: fmt.Errorf("%w before it began: need %s, have %s", loaderr.ErrMemory,
				humanize.IBytes(minMemory), humanize.IBytes(uint64(available))),
			Hint: "end other programs, or give the daemon's control group more memory",
		}
	}
	return min(enoughMemory(j), available), nil
}

// withMemoryHint adds a hint to the error of a child that has reached its memory limit. Fewer
// columns help only if the child could have had more memory on another machine.
func withMemoryHint(j Job, err error) error {
	hint := "load fewer columns, or end other programs"
	if j.MemoryLimit >= enoughMemory(j) {
		hint = "the source is damaged or unpacks to far more than its size: write it in smaller parts"
	}
	return &loaderr.MemoryError{Err: err, Hint: hint}
}

// enoughMemory returns more bytes than the load of a job's undamaged sources takes.
func enoughMemory(j Job) int64 {
	limit := int64(baseMemory)
	sources, _ := j.AllowedRoots.Stat(j.Sources) // the load reports paths that cannot be read
	for _, s := range sources {
		limit += memoryPerByte * s.Bytes
	}
	if j.Put != nil && j.Put.Format == put.FormatArrow {
		limit = maxMemory // the size of the stream is unknown
	} else if j.Put != nil {
		for _, c := range j.Put.Columns {
			limit += memoryPerByte * min(max(0, c.Bytes), maxMemory)
		}
	}
	return min(limit, maxMemory)
}
