//go:build cgo

package ingest

// cgoEnabled reports whether the test binary uses cgo. If a memory limit is reached, threads and
// allocations of C end the process with other messages than Go's. Releases are built without cgo.
const cgoEnabled = true
