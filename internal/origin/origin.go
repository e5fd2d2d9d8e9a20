// Package origin describes the files that a client stages for a load: of which remote files they
// are copies, and which bytes have been copied.
//
// A staged file has the size of the remote file. Only [File.Ranges] of it are copied; a read of
// other bytes is an error, which the package that reads files detects.
//
// # Caveats
//
// URLs have no user, password, query and fragment, which may be secrets. [Files.Validate] refuses
// such a URL without quoting it.
package origin

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// File is a staged file of a request.
type File struct {
	// Path is the absolute path of the staged file.
	Path string `json:"path"`
	// URL is that of the remote file.
	URL string `json:"url"`
	// ETag is what the server sent, nil if it sent none.
	ETag *string `json:"etag"`
	// Size is the size of the remote file in bytes.
	Size int64 `json:"size"`
	// Mtime is the time of the last change in RFC 3339, nil if the server does not tell.
	Mtime *string `json:"mtime"`
	// Ranges are the bytes that are staged; nil is all.
	Ranges Ranges `json:"ranges"`
}

// Files are the staged files of a request.
type Files []File

// Missing are bytes of a staged file that a load reads and that are not staged.
type Missing struct {
	Path   string `json:"path"`
	Ranges Ranges `json:"ranges"`
}

// Validate checks everything but the files themselves. The error is a [loaderr.OptionError] for the
// field origins.
func (f Files) Validate() error {
	seen := make(map[string]bool, len(f))
	for i := range f {
		if err := f[i].validate(); err != nil {
			return err
		}
		if seen[f[i].Path] {
			return refuse("path", f[i].Path, "each path once")
		}
		seen[f[i].Path] = true
	}
	return nil
}

// refuse returns the error for a field of an origin.
func refuse(field, value, allowed string) error {
	return &loaderr.OptionError{Field: "origins", Value: field + " " + value, Allowed: allowed}
}

// validate checks one origin.
func (f *File) validate() error {
	if !filepath.IsAbs(f.Path) || filepath.Clean(f.Path) != f.Path {
		return refuse("path", f.Path, "an absolute path of a staged file, without . and ..")
	}
	if err := CheckURL(f.URL); err != nil {
		return err
	}
	if f.Size < 0 {
		return refuse("size", fmt.Sprint(f.Size), "at least 0")
	}
	if f.ETag != nil && *f.ETag == "" {
		return refuse("etag", `""`, "what the server sent, or null")
	}
	if f.Mtime != nil {
		if _, err := time.Parse(time.RFC3339, *f.Mtime); err != nil {
			return refuse("mtime", *f.Mtime, "a time as 2026-01-02T03:04:05Z, or null")
		}
	}
	var before int64
	for _, r := range f.Ranges {
		if r[0] < before || r[0] >= r[1] || r[1] > f.Size {
			return refuse("ranges", fmt.Sprintf("[%d, %d] of %s", r[0], r[1], f.Path), fmt.Sprintf(
				"sorted, disjoint ranges [begin, end] within %d bytes, and end is not included",
				f.Size))
		}
		before = r[1]
	}
	return nil
}

// CheckURL refuses a URL that is not absolute, and one that may contain a secret, without quoting
// it. The error is a [loaderr.OptionError].
func CheckURL(text string) error {
	u, err := url.Parse(text)
	const want = "a URL as s3://bucket/a.parquet"
	switch {
	case strings.ContainsAny(text, "?"):
		return refuse("url", "with a query", "a URL without its query")
	case err != nil && strings.Contains(text, "@"), err == nil && u.User != nil:
		return refuse("url", "with a user", "a URL without user and password")
	case strings.Contains(text, "#"):
		return refuse("url", "with a fragment", "a URL without its fragment")
	case err != nil || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse("url", "that is not valid", want)
	case u.Scheme == "" || u.Scheme == "file" || u.Opaque != "" || u.Host == "" && u.Path == "":
		return refuse("url", text, want)
	}
	return nil
}

// Origin returns the origin as the manifest has it. The file must be valid.
func (f *File) Origin() *layout.Origin {
	o := &layout.Origin{URL: f.URL, ETag: f.ETag, Size: f.Size}
	if f.Mtime != nil {
		if t, err := time.Parse(time.RFC3339, *f.Mtime); err == nil {
			t = t.UTC()
			o.Mtime = &t
		}
	}
	return o
}

// Source returns the source as the manifest has it. The file must be valid.
func (f *File) Source() layout.Source {
	s := layout.Source{Path: f.URL, Bytes: f.Size, Origin: f.Origin()}
	if s.Origin.Mtime != nil {
		s.MtimeNs = s.Origin.Mtime.UnixNano()
	}
	return s
}
