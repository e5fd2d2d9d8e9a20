//go:build !race

package tensorcache

var raceFlags []string
