//go:build cgo

package ingest

// cgoEnabled: C's threads and allocations die of a memory limit in ways of their own; releases are built without cgo.
const cgoEnabled = true
