package main

import (
	"fmt"
	"log/slog"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// memoryEnv is the budget if no flag is given. It is needed for daemons that clients start.
const memoryEnv = "TENSORCACHE_MEMORY"

// minBudget is what a ring of small batches and a small dataset need.
const minBudget = 1 << 20

// sizeFlag is a flag of bytes with a unit. It is 0 if it is not given.
type sizeFlag int64

func (s *sizeFlag) String() string {
	if *s == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*s))
}

func (s *sizeFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < minBudget || n > math.MaxInt64 {
		return fmt.Errorf("want a size of %s or more, as 8GiB or 500MB",
			humanize.IBytes(minBudget))
	}
	*s = sizeFlag(n)
	return nil
}

func (s *sizeFlag) Type() string { return "size" }

// budget returns how much memory datasets and rings may use: the flag, else half of the memory that
// this process may use.
func (o *serveOptions) budget(log *slog.Logger) int64 {
	limit := machine.Limit()
	if o.memory == 0 {
		return limit / 2
	}
	if int64(o.memory) > limit {
		log.Warn("the memory budget exceeds the memory that the process may use", "budget",
			o.memory.String(), "limit",
			humanize.IBytes(uint64(limit)))
	}
	return int64(o.memory)
}
