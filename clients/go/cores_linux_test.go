package tensorcache

import (
	"runtime"
	"testing"
)

func TestTicksGoOnAndNoMoreAreIdleThanPassed(t *testing.T) {
	before := readTicks()
	if before.idle < 0 || before.idle > before.passed || before.passed == 0 || before.cores != int64(runtime.NumCPU()) {
		t.Fatalf("%+v on %d cores", before, runtime.NumCPU())
	}
	var used coreTicks
	until(t, "the clock goes on", func() bool {
		used = coreTicks{}
		used.add(before, readTicks())
		return used.passed > 0
	})
	if used.idle > used.passed || used.cores != before.cores {
		t.Errorf("%+v, then %+v", before, used)
	}
}
