//go:build race

package tensorcache

// raceFlags build the daemon as the tests are built, so that both share the build cache.
var raceFlags = []string{"-race"}
