//go:build cgo

package ingest

// cgoEnabled is true if the test uses cgo. Under a memory limit, threads and allocations of C end
// the process with other messages. Releases are built without cgo.
const cgoEnabled = true
