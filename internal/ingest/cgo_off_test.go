//go:build !cgo

package ingest

// cgoEnabled is true if the test uses cgo.
const cgoEnabled = false
