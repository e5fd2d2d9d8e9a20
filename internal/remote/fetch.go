package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/tensorcache/tensorcache/internal/origin"
)

// Sizes of requests, in bytes.
const (
	// wholeSize is the size up to which a file is copied in one request.
	wholeSize = 1 << 20
	// partSize is the size of one of several requests for a long range.
	partSize = 16 << 20
	// progressSize is what an answer must have before it was cut off, so that the next request is
	// counted as the first.
	progressSize = 1 << 20
)

// errStaged is returned by Fetch if all bytes that are missing are staged.
var errStaged = errors.New("the daemon asks for bytes of remote files that are staged")

// Fetch copies what is missing, and all of small files. It returns an error if nothing is missing,
// since the daemon would ask forever.
func (s *Staging) Fetch(ctx context.Context, missing []origin.Missing) error {
	wanted := map[*file][]origin.Range{}
	var need int64
	for _, m := range missing {
		f := s.byPath[m.Path]
		if f == nil {
			return fmt.Errorf("the daemon asks for %q, which is no copy of a remote file", m.Path)
		}
		if ranges := f.missing(m.Ranges); len(ranges) > 0 {
			wanted[f] = ranges
			need += ranges.Bytes()
		}
	}
	if need == 0 {
		return errStaged
	}
	if err := s.checkSpace(need); err != nil {
		return err
	}
	s.total.Add(need)
	g, ctx := errgroup.WithContext(ctx)
	for f, ranges := range wanted {
		g.Go(func() error { return s.fetch(ctx, f, ranges) })
	}
	return g.Wait()
}

// missing returns the ranges that one call of Fetch copies. Nil is the whole file.
func (f *file) missing(ranges origin.Ranges) origin.Ranges {
	if ranges == nil || f.oneRequest || f.size <= wholeSize {
		ranges = origin.Ranges{{0, f.size}}
	}
	return ranges.Without(f.staged)
}

// fetch copies ranges of one file, or the file if its size is unknown.
func (s *Staging) fetch(ctx context.Context, f *file, ranges origin.Ranges) error {
	if f.oneRequest {
		return s.fetchPart(ctx, f, origin.Range{0, f.size})
	}
	var parts []origin.Range
	for _, r := range ranges {
		for ; r[1]-r[0] > partSize; r[0] += partSize {
			parts = append(parts, origin.Range{r[0], r[0] + partSize})
		}
		parts = append(parts, r)
	}
	// The first answer says whether the server ignores ranges.
	for !f.ranged && len(parts) > 0 {
		if err := s.fetchPart(ctx, f, parts[0]); err != nil {
			return err
		}
		parts = parts[1:]
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParts)
	for _, r := range parts {
		g.Go(func() error { return s.fetchPart(ctx, f, r) })
	}
	return g.Wait()
}

// fetchPart copies one range.
func (s *Staging) fetchPart(ctx context.Context, f *file, r origin.Range) error {
	select {
	case s.parts <- struct{}{}:
		defer func() { <-s.parts }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	to, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	wanted := r
	err = s.retried(ctx, func() (bool, error) {
		for {
			f.mu.Lock()
			done := f.staged.Contain(r[0], r[1]) && f.size >= 0
			f.mu.Unlock()
			if done {
				return true, nil
			}
			before := r[0]
			if err := s.fetchOnce(ctx, f, &r, to); err != nil {
				return r[0]-before >= progressSize, err
			}
			f.stage(origin.Range{wanted[0], r[0]})
		}
	})
	return errors.Join(err, to.Close())
}

// stage notes bytes that were copied.
func (f *file) stage(r origin.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.staged = origin.Join(append(f.staged, r), 0)
}

// fetchOnce sends one request for a range and copies its answer. It moves the begin of the range
// behind what it has copied. If the answer is the whole file, it stages it.
func (s *Staging) fetchOnce(ctx context.Context, f *file, r *origin.Range, to *os.File) error {
	ask := r
	if f.oneRequest {
		ask = nil
	}
	res, err := s.send(ctx, http.MethodGet, f, ask)
	if err != nil {
		return err
	}
	defer res.close()
	switch {
	case res.StatusCode == http.StatusPartialContent && ask != nil:
		return s.copyRange(res, f, r, to)
	case res.StatusCode == http.StatusOK:
		return s.copyAll(res, f, *r, to)
	}
	return f.statusError(res.StatusCode)
}

// copyRange copies an answer that has a range.
func (s *Staging) copyRange(res *answer, f *file, r *origin.Range, to *os.File) error {
	got, total, err := contentRange(res.Header.Get("Content-Range"))
	if err != nil || got[0] != r[0] || got[1] > r[1] {
		return f.rangeError(res, *r)
	}
	if err := f.checkIdentity(res, total); err != nil {
		return err
	}
	if err := f.checkEncoding(res); err != nil {
		return err
	}
	f.mu.Lock()
	f.ranged = true
	f.mu.Unlock()
	n, err := s.copy(res, f, io.LimitReader(res.Body, got[1]-got[0]), to, r[0])
	r[0] += n
	if err == nil && r[0] < got[1] {
		err = retryError{f.cutOff()}
	}
	return err
}

// copyAll copies an answer that has the whole file, and stages it.
func (s *Staging) copyAll(res *answer, f *file, r origin.Range, to *os.File) error {
	size := res.ContentLength
	if err := f.checkIdentity(res, size); err != nil {
		return err
	}
	if err := f.checkEncoding(res); err != nil {
		return err
	}
	if size < 0 && len(res.TransferEncoding) == 0 && res.ProtoMajor == 1 {
		return f.problem("the server does not tell where the file ends").
			WithHint("download the file, and load that")
	}
	size = max(f.size, size)
	body := io.Reader(res.Body)
	if size >= 0 { // a file of another size has changed
		if err := s.checkSpace(size - f.staged.Bytes()); err != nil {
			return err
		}
		s.total.Add(size - max(r[1]-r[0], 0))
		body = io.LimitReader(body, size+1)
	}
	n, err := s.copy(res, f, body, to, 0)
	switch {
	case err == nil && n > size && size >= 0:
		err = f.changed("its size", fmt.Sprint(size), "longer")
	case err == nil && n < size:
		err = retryError{f.cutOff()}
	}
	if err != nil {
		s.total.Add(max(r[1]-r[0], 0) - max(size, 0))
		s.copied.Add(-n)
		return err
	}
	f.size = n
	f.stage(origin.Range{0, n})
	return nil
}

// copy writes bytes of an answer to a copy and returns their number.
func (s *Staging) copy(res *answer, f *file, from io.Reader, to *os.File, at int64) (int64,
	error) {
	buffer := make([]byte, 256<<10)
	var done int64
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.WriteAt(buffer[:n], at+done); err != nil {
				return done, s.diskError(err, f.size)
			}
			done += int64(n)
			s.report(int64(n))
		}
		switch {
		case err == io.EOF:
			return done, nil
		case err != nil:
			return done, f.requestError(res.ctx, err, s)
		}
	}
}

// report reports progress.
func (s *Staging) report(n int64) {
	s.copied.Add(n)
	if s.options.Progress == nil {
		return
	}
	s.progress.Lock()
	defer s.progress.Unlock()
	done := s.copied.Load()
	s.options.Progress(done, max(s.total.Load(), done))
}
