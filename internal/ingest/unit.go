package ingest

import "slices"

// units are those of timestamps, by the number of digits of a fraction of a second, in threes.
var units = [...]string{"s", "ms", "us", "ns"}

// unitDigits is the place of a unit among units.
func unitDigits(unit string) int { return max(0, slices.Index(units[:], unit)) }

// perSecond is how many of a unit are in a second.
func perSecond(unit string) int64 { return [...]int64{1, 1e3, 1e6, 1e9}[unitDigits(unit)] }
