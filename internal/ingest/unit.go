package ingest

import "slices"

// units are those of timestamps, by the number of digits of a fraction of a second, in threes.
var units = [...]string{"s", "ms", "us", "ns"}

// unitDigits is the place of a unit among units.
func unitDigits(unit string) int { return max(0, slices.Index(units[:], unit)) }
