// Package loadtest provides helpers for tests of loads.
//
// It writes source files in the supported formats, damages them, checks errors and reads the values
// of a generation. It imports no readers, so that their own tests can use it.
package loadtest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// File writes text to a file with the given name in a temporary directory and returns its path.
func File(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Refused fails the test unless err is a SourceError or OptionError whose message contains want and
// whose hint contains hint.
func Refused(t *testing.T, err error, want, hint string) {
	t.Helper()
	if err == nil {
		t.Fatalf("loaded, want an error with %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant  %s", err, want)
	}
	got := ""
	var s *loaderr.SourceError
	var o *loaderr.OptionError
	switch {
	case errors.As(err, &s):
		got = s.Hint
	case errors.As(err, &o):
		got = o.Hint
	default:
		t.Errorf("%T is neither a SourceError nor an OptionError", err)
	}
	if !strings.Contains(got, hint) {
		t.Errorf("hint %q, want one with %q", got, hint)
	}
}

// Number generates texts of numbers, as people and programs write them.
var Number = rapid.Custom(func(r *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(r, "kind") {
	case 0:
		return strconv.FormatInt(rapid.Int64().Draw(r, "i"), 10)
	case 1:
		return strconv.FormatFloat(rapid.Float64().Draw(r, "f"), 'g', -1, 64)
	case 2:
		return fmt.Sprintf("%.*f",
			rapid.IntRange(0, 20).Draw(r, "digits"), rapid.Float64Range(-1e6, 1e6).Draw(r, "f"))
	case 3:
		return fmt.Sprintf("%.*e", rapid.IntRange(0, 25).Draw(r, "digits"),
			rapid.Float64().Draw(r, "f"))
	case 4:
		return rapid.StringMatching(`[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?`).
			Draw(r, "s")
	}
	return rapid.SampledFrom([]string{
		"inf", "-Inf", "+infinity", "-0", "0", "1e22", "1e23", "9007199254740993", "4.9e-324",
		"1.7976931348623157e308",
	}).Draw(r, "s")
})

// Compressed returns text compressed with gzip or zstd, for the suffix .gz or .zst.
func Compressed(t *testing.T, suffix, text string) string {
	t.Helper()
	var b bytes.Buffer
	switch suffix {
	case ".gz":
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
