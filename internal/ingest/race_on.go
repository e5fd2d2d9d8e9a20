//go:build race

package ingest

// raceEnabled is true if the program is built with the race detector.
const raceEnabled = true
