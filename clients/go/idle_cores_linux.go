package tensorcache

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readCoreTicks reads the ticks of this process's cores.
func readCoreTicks() coreTicks {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &allowed); err != nil {
		return coreTicks{}
	}
	file, err := os.Open("/proc/stat")
	if err != nil {
		return coreTicks{}
	}
	defer file.Close()
	return parseTicks(file, &allowed)
}

// parseTicks returns the sum of the ticks of the allowed cores in /proc/stat.
func parseTicks(stat io.Reader, allowed *unix.CPUSet) (sum coreTicks) {
	sum.cores = int64(allowed.Count())
	for lines := bufio.NewScanner(stat); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		number, ok := strings.CutPrefix(name, "cpu")
		if !ok {
			break // cores are the first lines
		}
		fields := strings.Fields(rest)
		core, err := strconv.Atoi(number)
		// the first line has no number; it is the sum of all cores
		if err != nil || !allowed.IsSet(core) || len(fields) < 8 {
			continue
		}
		for i, field := range fields[:8] { // the first two include the time of guests
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return coreTicks{}
			}
			sum.total += ticks
			if i == 3 || i == 4 { // idle and iowait
				sum.idle += ticks
			}
		}
	}
	return sum
}
