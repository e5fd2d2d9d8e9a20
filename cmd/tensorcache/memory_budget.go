package main

import (
	"fmt"
	"log/slog"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// memoryVariable says the budget where no flag does: a daemon that a client starts is given none.
const memoryEnv = "TENSORCACHE_MEMORY"

// leastBudget is what a daemon cannot do without: a ring of small batches and a small dataset.
const minBudget = 1 << 20

// size is a flag of bytes as people write them; 0 is one that was not given.
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

// budget is what datasets and rings may take together: as told, else half of what this process may
// take.
func (o *serveOptions) budget(log *slog.Logger) int64 {
	limit := machine.Limit()
	if o.memory == 0 {
		return limit / 2
	}
	if int64(o.memory) > limit {
		log.Warn("the memory budget is more than there is", "budget", o.memory.String(), "limit",
			humanize.IBytes(uint64(limit)))
	}
	return int64(o.memory)
}
