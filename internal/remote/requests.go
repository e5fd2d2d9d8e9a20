package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/origin"
)

// newClient returns a client that does not decompress answers.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.MaxIdleConnsPerHost = maxDescribing
	return &http.Client{Transport: transport, CheckRedirect: redirect}
}

// redirect lets only the first host see user and password, and no host the query of another one,
// which net/http would send as Referer.
func redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > 10:
		return errRedirects
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return errScheme
	case req.URL.Scheme == "http" && first.URL.Scheme == "https":
		return errDowngrade
	}
	req.Header.Del("Referer")
	req.Header.Del("Authorization")
	if sent := first.Header.Get("Authorization"); sent != "" &&
		req.URL.Scheme == first.URL.Scheme && strings.EqualFold(req.URL.Host, first.URL.Host) {
		req.Header.Set("Authorization", sent)
	}
	return nil
}

// answer is the answer to a request. Its Body fails when the server is silent for too long.
type answer struct {
	*http.Response
	ctx  context.Context // of the request
	stop func()
}

// close ends the request.
func (a *answer) close() {
	a.stop()
	_ = a.Body.Close()
}

// watched runs a timer during each read.
type watched struct {
	io.ReadCloser
	timer   *time.Timer
	silence time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.silence)
	defer w.timer.Stop()
	return w.ReadCloser.Read(p)
}

// send sends a request for a range, or for the whole file if the range is nil. The caller must
// close the answer.
func (s *Staging) send(ctx context.Context, method string, f *file, r *origin.Range) (*answer,
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(s.options.Silence, func() { cancel(errSilent) })
	stop := func() {
		timer.Stop()
		cancel(nil)
	}
	// A range of the encoded file would be useless.
	header := http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {"tensorcache"}}
	req := (&http.Request{Method: method, URL: f.request, Header: header,
		Host: f.request.Host}).WithContext(ctx)
	if f.user != nil {
		password, _ := f.user.Password()
		req.SetBasicAuth(f.user.Username(), password)
	}
	if r != nil {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", r[0], r[1]-1))
	}
	res, err := s.client.Do(req)
	if err != nil {
		err = f.requestError(ctx, err, s)
		stop()
		return nil, err
	}
	timer.Stop()
	res.Body = &watched{res.Body, timer, s.options.Silence}
	return &answer{res, ctx, stop}, nil
}

// retried calls a function until it succeeds, fails for good, or has failed maxTries times without
// progress.
func (s *Staging) retried(ctx context.Context, try func() (progress bool, err error)) error {
	pause := s.options.Pause
	for tries := 1; ; tries++ {
		progress, err := try()
		again, ok := err.(retryError)
		if !ok {
			return err
		}
		if progress {
			tries, pause = 0, s.options.Pause
		}
		if tries == maxTries {
			return again.error
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// maxTries is the number of requests for the same bytes.
const maxTries = 3
