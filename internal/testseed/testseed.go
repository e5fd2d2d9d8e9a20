// Package testseed gives all random tests one seed, so that two runs of the same commit draw the
// same values. Only tests import it.
//
// The seed is TENSORCACHE_SEED, or 1. A package whose tests use rapid imports this package: that
// sets rapid's seed, unless RAPID_SEED or the flag -rapid.seed does. make soak draws another seed.
//
// The go command does not know that the results depend on these variables: set -count=1 with them.
package testseed

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	_ "pgregory.net/rapid" // registers the flags that init sets
)

// Seed returns the seed of all random tests.
func Seed() uint64 {
	text := os.Getenv("TENSORCACHE_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seed == 0 { // rapid draws a seed of its own for 0
		panic(fmt.Sprintf("TENSORCACHE_SEED: got %q, want a whole number from 1", text))
	}
	return seed
}

// Checks sets the number of cases of each rapid property of a package, unless RAPID_CHECKS or the
// flag -rapid.checks does. TestMain calls it.
func Checks(n int) {
	if os.Getenv("RAPID_CHECKS") == "" {
		set("rapid.checks", strconv.Itoa(n))
	}
}

func init() {
	if os.Getenv("RAPID_SEED") == "" {
		set("rapid.seed", strconv.FormatUint(Seed(), 10))
	}
	set("rapid.nofailfile", "true") // rapid would try the failures of earlier runs first
}

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
