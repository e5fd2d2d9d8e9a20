package ingest

// units are those of timestamps, by the number of digits of a fraction of a second, in threes.
var units = [...]string{"s", "ms", "us", "ns"}

// unitDigits is the place of a unit among units.
func unitDigits(unit string) int {
	for i, u := range units {
		if u == unit {
			return i
		}
	}
	return 0
}
