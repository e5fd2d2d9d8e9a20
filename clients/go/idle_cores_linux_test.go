package tensorcache

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTicksIncreaseAndNoMoreAreIdleThanPass(t *testing.T) {
	before := readCoreTicks()
	if before.idle < 0 || before.idle > before.total || before.total == 0 ||
		before.cores != int64(runtime.NumCPU()) {
		t.Fatalf("%+v on %d cores", before, runtime.NumCPU())
	}
	var used coreTicks
	eventually(t, "the clock goes on", func() bool {
		used = coreTicks{}
		used.addSince(before, readCoreTicks())
		return used.total > 0
	})
	if used.idle > used.total || used.cores != before.cores {
		t.Errorf("%+v, then %+v", before, used)
	}
}

func TestOnlyTicksOfAllowedCoresCount(t *testing.T) {
	var mine unix.CPUSet
	mine.Set(1)
	mine.Set(10)
	got := parseTicks(strings.NewReader(`cpu  1 20 30 400 50 6 7 8 9 10
cpu0 100 100 100 100 100 100 100 100 100 100
cpu1 1 2 3 40 5 6 7 8 9 10
cpu10 1 1 1 1 1 1 1 1 1 1
intr 12345 cpu1
`), &mine)
	if want := (coreTicks{idle: 40 + 5 + 2, total: 72 + 8, cores: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
