//go:build !cgo

package ingest

// cgoEnabled reports whether the test binary uses cgo.
const cgoEnabled = false
