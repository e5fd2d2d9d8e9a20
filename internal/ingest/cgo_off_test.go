//go:build !cgo

package ingest

const cgoEnabled = false
