package remote

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// modified is the time of the last change of the served files.
var modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// server serves one file in a way that a test chooses.
type server struct {
	*httptest.Server
	data []byte
	etag string
	// change changes answers before the file is served. It returns true if it has answered.
	change func(w http.ResponseWriter, r *http.Request, n int) bool
	// gets counts requests of the method GET.
	gets atomic.Int64
	sent atomic.Int64

	mu       sync.Mutex
	requests []*http.Request
}

// counted counts the bytes of a body.
type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// newServer returns a server of random bytes.
func newServer(t *testing.T, size int) *server {
	t.Helper()
	s := &server{data: make([]byte, size), etag: `"v1"`}
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(s.data)
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Clone(r.Context()))
	s.mu.Unlock()
	n := 0
	if r.Method == http.MethodGet {
		n = int(s.gets.Add(1))
	}
	if s.change != nil && s.change(w, r, n) {
		return
	}
	s.serveFile(w, r)
}

// serveFile serves the file with ranges.
func (s *server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Time{}
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
		at = modified
	}
	http.ServeContent(counted{w, &s.sent}, r, "", at, bytes.NewReader(s.data))
}

// noRanges serves the file and ignores ranges.
func (s *server) noRanges(w http.ResponseWriter, r *http.Request, _ int) bool {
	r.Header.Del("Range")
	w.Header().Set("ETag", s.etag)
	w.Header().Set("Content-Length", fmt.Sprint(len(s.data)))
	if r.Method == http.MethodGet {
		_, _ = counted{w, &s.sent}.Write(s.data)
	}
	return true
}

// onGet returns a change of the answers to GET.
func onGet(change func(w http.ResponseWriter, r *http.Request, n int) bool) func(
	http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.Method == http.MethodGet && change(w, r, n)
	}
}
