package remote

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/origin"
)

// identity is what a server says about the version of a file.
type identity struct {
	size     int64   // -1 if the server does not tell
	etag     *string // nil if the server sends none
	modified string  // the header Last-Modified
	// settled is true if a further change would change modified, which has whole seconds.
	settled bool
}

// settledAfter is the time between the last change of a file and an answer below which the file may
// change again with the same Last-Modified.
const settledAfter = 2 * time.Second

// mtime returns the time of the last change in RFC 3339, nil if the server does not tell it.
func (i *identity) mtime() *string {
	t, err := http.ParseTime(i.modified)
	if err != nil {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// comparedTime returns the time of the last change, nil if it does not tell two versions apart. The
// manifest has no query, so two answers of one script have the same URL there.
func (f *file) comparedTime() *string {
	if !f.settled || f.request.RawQuery != "" {
		return nil
	}
	return f.mtime()
}

// describe asks the server for the identity of a file.
func (s *Staging) describe(ctx context.Context, f *file) error {
	return s.retried(ctx, func() (bool, error) {
		res, err := s.send(ctx, http.MethodHead, f, nil)
		if _, again := err.(retryError); again { // some servers end the connection
			return false, s.describeByGet(ctx, f)
		}
		if err != nil {
			return false, err
		}
		res.close()
		// Servers answer 0 where they do not know the size, and signed URLs are for GET only.
		if res.StatusCode == http.StatusOK && res.ContentLength > 0 {
			f.describeBy(res, res.ContentLength)
			return false, f.checkEncoding(res)
		}
		return false, s.describeByGet(ctx, f)
	})
}

// describeByGet asks for the first byte, because the answer has the size.
func (s *Staging) describeByGet(ctx context.Context, f *file) error {
	res, err := s.send(ctx, http.MethodGet, f, &origin.Range{0, 1})
	if err != nil {
		return err
	}
	defer res.close()
	switch res.StatusCode {
	case http.StatusPartialContent:
		at, total, err := contentRange(res.Header.Get("Content-Range"))
		if err != nil || at != (origin.Range{0, 1}) {
			return f.rangeError(res, origin.Range{0, 1})
		}
		f.describeBy(res, total)
	case http.StatusRequestedRangeNotSatisfiable: // the file is empty
		var total int64
		text := res.Header.Get("Content-Range")
		if _, err := fmt.Sscanf(text, "bytes */%d", &total); err != nil || total != 0 {
			return f.problem("the server refused a request of its first byte").
				WithHint("download the file, and load that")
		}
		f.describeBy(res, 0)
	case http.StatusOK:
		f.describeBy(res, res.ContentLength)
		f.oneRequest = true
	default:
		return f.statusError(res.StatusCode)
	}
	return f.checkEncoding(res)
}

// describeBy takes the identity from an answer.
func (f *file) describeBy(res *answer, size int64) {
	f.identity = identity{size: size, modified: res.Header.Get("Last-Modified")}
	if etag := res.Header.Get("ETag"); etag != "" {
		f.etag = &etag
	}
	changed, err1 := http.ParseTime(f.modified)
	now, err2 := http.ParseTime(res.Header.Get("Date"))
	f.settled = err1 == nil && err2 == nil && now.Sub(changed) >= settledAfter
	f.oneRequest = size < 0 || f.etag == nil && !f.settled ||
		strings.EqualFold(res.Header.Get("Accept-Ranges"), "none")
}

// checkIdentity refuses an answer of another version of the file.
func (f *file) checkIdentity(res *answer, size int64) error {
	if size >= 0 && f.size >= 0 && size != f.size {
		return f.changed("its size", fmt.Sprint(f.size), fmt.Sprint(size))
	}
	// One server may call the same ETag weak and strong.
	strong := func(etag string) string { return strings.TrimPrefix(etag, "W/") }
	if now := res.Header.Get("ETag"); f.etag != nil && strong(now) != strong(*f.etag) {
		return f.changed("its ETag", *f.etag, orNone(now))
	}
	now := res.Header.Get("Last-Modified")
	if f.etag == nil && f.modified != "" && now != f.modified {
		return f.changed("its time", f.modified, orNone(now))
	}
	return nil
}

func orNone(text string) string {
	if text == "" {
		return "not sent"
	}
	return text
}

// checkEncoding refuses an encoded answer, unless the encoding is that of the file itself: many
// servers send .gz files with the encoding gzip.
func (f *file) checkEncoding(res *answer) error {
	encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	own := map[string]string{".gz": "gzip", ".zst": "zstd"}[path.Ext(f.name())]
	switch {
	case encoding == "" || encoding == "identity":
	case own != "" && strings.TrimPrefix(encoding, "x-") == own:
	default:
		return f.problem("the server sends it with the encoding %.40q, want none", encoding).
			WithHint("download the file, and load that")
	}
	return nil
}

// contentRange parses the header of an answer with a range. The total is -1 if it is unknown.
func contentRange(text string) (r origin.Range, total int64, err error) {
	var of string
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%s", &r[0], &r[1], &of); err != nil {
		return r, 0, err
	}
	r[1]++
	if of == "*" {
		return r, -1, nil
	}
	if _, err := fmt.Sscanf(of, "%d", &total); err != nil {
		return r, 0, err
	}
	if r[0] < 0 || r[0] >= r[1] || r[1] > total {
		return r, 0, fmt.Errorf("got %q, want a range within the size", text)
	}
	return r, total, nil
}

// rangeError returns the error for an answer with another range than the wanted one.
func (f *file) rangeError(res *answer, want origin.Range) error {
	return f.problem("the server sent the range %.60q, want bytes %d-%d",
		res.Header.Get("Content-Range"), want[0], want[1]-1).
		WithHint("download the file, and load that")
}
