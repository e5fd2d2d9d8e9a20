package tensorcache

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readTicks asks the system.
func readTicks() coreTicks {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &mine); err != nil {
		return coreTicks{}
	}
	file, err := os.Open("/proc/stat")
	if err != nil {
		return coreTicks{}
	}
	defer file.Close()
	return ticksOf(file, &mine)
}

// ticksOf sums up the lines of some cores.
func ticksOf(stat io.Reader, mine *unix.CPUSet) (sum coreTicks) {
	sum.cores = int64(mine.Count())
	for lines := bufio.NewScanner(stat); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		number, ok := strings.CutPrefix(name, "cpu")
		if !ok {
			break // the cores come first
		}
		fields := strings.Fields(rest)
		core, err := strconv.Atoi(number)
		// the first line has no number: it is of all cores
		if err != nil || !mine.IsSet(core) || len(fields) < 8 {
			continue
		}
		for i, field := range fields[:8] { // what guests had is in the first two
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return coreTicks{}
			}
			sum.passed += ticks
			if i == 3 || i == 4 { // idle, and waiting for a disk
				sum.idle += ticks
			}
		}
	}
	return sum
}
