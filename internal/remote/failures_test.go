package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// status answers with a status.
func status(code int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		http.Error(w, "<script>secret</script>", code)
		return true
	}
}

// cutOff sends half of the first answers and then closes the connection.
func cutOff(s *server, answers int) func(http.ResponseWriter, *http.Request, int) bool {
	return onGet(func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n > answers {
			return false
		}
		whole := httptest.NewRecorder()
		s.serveFile(whole, r)
		for k, v := range whole.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		panic(http.ErrAbortHandler)
	})
}

// TestServersThatBehaveWell lists servers whose whole file is copied.
func TestServersThatBehaveWell(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *server)
		// gets is the maximum number of requests of the method GET, 0 is any.
		gets int
	}{
		{"ranges", func(*server) {}, 1},
		{"no ranges", func(s *server) { s.change = s.noRanges }, 2},
		{"no HEAD", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				return r.Method == http.MethodHead && status(405)(w, r, 0)
			}
		}, 0},
		{"HEAD is cut off", func(s *server) {
			s.change = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
				if r.Method == http.MethodHead {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, 2},
		{"no ranges and no HEAD", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				return r.Method == http.MethodHead && status(403)(w, r, 0) || s.noRanges(w, r, n)
			}
		}, 0},
		{"Accept-Ranges: none", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				w.Header().Set("Accept-Ranges", "none")
				return s.noRanges(w, r, n)
			}
		}, 1},
		{"no Content-Length", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				w.Header().Set("ETag", s.etag)
				_ = http.NewResponseController(w).Flush()
				_, _ = w.Write(s.data)
				return true
			}
		}, 2},
		{"no ETag", func(s *server) { s.etag = "" }, 1},
		{"no ETag, cut off", func(s *server) { s.etag = ""; s.change = cutOff(s, 2) }, 3},
		{"cut off", func(s *server) { s.change = cutOff(s, 2) }, 3},
		{"cut off, no ranges", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				r.Header.Del("Range")
				return cutOff(s, 2)(w, r, n)
			}
		}, 3},
		{"ranges only at first", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				return n == 2 && s.noRanges(w, r, n) || cutOff(s, 1)(w, r, n)
			}
		}, 2},
		{"500 twice", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, n int) bool {
				return n < 3 && status(500)(w, r, n)
			})
		}, 3},
		{"429", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, n int) bool {
				return n < 2 && status(429)(w, r, n)
			})
		}, 2},
		{"shorter ranges", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				var from, to int
				_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
				r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, min(to, from+99_999)))
				return false
			})
		}, 0},
		{"weak and strong ETag", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				s.etag = `W/"v1"`
				return false
			})
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := newServer(t, mib)
			c.change(srv)
			s, err := stage(t, quick, srv.URL+"/x.csv")
			if err != nil {
				t.Fatal(err)
			}
			if f := s.Origins()[0]; !f.Ranges.Contain(0, f.Size) {
				err = s.Fetch(t.Context(), []origin.Missing{{Path: f.Path}})
			}
			if err != nil {
				t.Fatal(err)
			}
			if f := checkCopy(t, s, srv.data); !f.Ranges.Contain(0, f.Size) {
				t.Errorf("staged %v, want all", f.Ranges)
			}
			if n := int(srv.gets.Load()); c.gets > 0 && n > c.gets {
				t.Errorf("the server answered %d times, want at most %d", n, c.gets)
			}
		})
	}
}

// TestServersThatBehaveBadly lists servers of which nothing is loaded.
func TestServersThatBehaveBadly(t *testing.T) {
	newVersion := func(s *server, from int, change func()) func(http.ResponseWriter, *http.Request,
		int) bool {
		return onGet(func(_ http.ResponseWriter, _ *http.Request, n int) bool {
			if n == from {
				s.mu.Lock()
				defer s.mu.Unlock()
				change()
			}
			return false
		})
	}
	for _, c := range []struct {
		name   string
		change func(s *server)
		want   string
		gets   int // 0 is any number
	}{
		{"404", func(s *server) { s.change = status(404) }, "answered 404 Not Found", 1},
		{"401", func(s *server) { s.change = status(401) }, "answered 401 Unauthorized", 1},
		{"403", func(s *server) { s.change = status(403) }, "answered 403 Forbidden", 1},
		{"always 500", func(s *server) { s.change = status(500) },
			"answered 500 Internal Server Error", maxTries},
		{"204", func(s *server) { s.change = status(204) }, "answered 204 No Content", 1},
		{"401 after HEAD", func(s *server) { s.change = onGet(status(401)) }, "answered 401", 1},
		{"always cut off", func(s *server) { s.change = cutOff(s, 1000) },
			"cut the connection off 3 times", 0},
		{"cut off and no ranges", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				r.Header.Del("Range")
				return cutOff(s, 1000)(w, r, n)
			}
		}, "cut the connection off 3 times", maxTries},
		{"silent before its answer", func(s *server) {
			s.change = onGet(func(_ http.ResponseWriter, r *http.Request, _ int) bool {
				<-r.Context().Done()
				return true
			})
		}, "sent nothing for 300ms", 1},
		{"silent within its answer", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				w.Header().Set("ETag", s.etag)
				w.Header().Set("Content-Length", fmt.Sprint(len(s.data)))
				_, _ = w.Write(s.data[:1000])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return true
			})
		}, "sent nothing for 300ms", 1},
		{"new ETag", func(s *server) {
			s.change = newVersion(s, 2, func() { s.etag = `"v2"` })
		}, `changed while it was read: its ETag was "v1" and is "v2"`, 0},
		{"new size", func(s *server) {
			s.change = newVersion(s, 2, func() { s.data = append(s.data, 1) })
		}, "changed while it was read: its size was 3145728 and is 3145729", 0},
		{"much shorter", func(s *server) {
			s.change = newVersion(s, 2, func() { s.data = s.data[:1000] })
		}, "changed while it was read: the server answered 416", 0},
		{"new size without ranges", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n == 1 {
					s.data = s.data[:mib]
				}
				return s.noRanges(w, r, n)
			}
		}, "changed while it was read: its size", 0},
		{"new time", func(s *server) {
			s.etag = ""
			s.change = func(w http.ResponseWriter, _ *http.Request, n int) bool {
				at := modified.Add(time.Duration(n) * time.Hour)
				w.Header().Set("Last-Modified", at.Format(http.TimeFormat))
				return false
			}
		}, "changed while it was read: its time was Fri, 02 Jan 2026 03:04:05 GMT", 0},
		{"another range", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				r.Header.Set("Range", "bytes=7-9")
				return false
			})
		}, `sent the range "bytes 7-9/3145728", want bytes 0-`, 0},
		{"a longer range", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, r *http.Request, _ int) bool {
				r.Header.Set("Range", "bytes=0-")
				return false
			})
		}, `sent the range "bytes 0-3145727/3145728"`, 0},
		{"no Content-Range", func(s *server) {
			s.change = onGet(func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("ETag", s.etag)
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(s.data[:1000])
				return true
			})
		}, `sent the range "", want`, 1},
		{"gzip", func(s *server) {
			s.change = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Encoding", "gzip")
				return false
			}
		}, `sends it with the encoding "gzip", want none`, 0},
		{"no end", func(s *server) {
			s.change = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				defer conn.Close()
				_, _ = conn.Write([]byte("HTTP/1.0 200 OK\r\n\r\na,b\r\n"))
				return true
			}
		}, "does not tell where the file ends", 0},
		{"no HTTP", func(s *server) {
			s.change = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				defer conn.Close()
				_, _ = conn.Write([]byte("SSH-2.0 secret\r\n"))
				return true
			}
		}, "does not answer as HTTP says", 0},
		{"redirects forever", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				http.Redirect(w, r, s.URL+"/y?secret=1", http.StatusFound)
				return true
			}
		}, "redirects more than 10 times", 0},
		{"invalid redirect", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				w.Header().Set("Location", "http://h/\x7f?secret=1")
				w.WriteHeader(302)
				return true
			}
		}, "does not answer as HTTP says", 0},
		{"redirect to a file", func(s *server) {
			s.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				w.Header().Set("Location", "file:///etc/secret")
				w.WriteHeader(302)
				return true
			}
		}, "redirects to another scheme than http and https", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := newServer(t, 3*mib)
			c.change(srv)
			url := strings.Replace(srv.URL, "//", "//user:secret@", 1) + "/x.csv?key=secret#secret"
			s, err := stage(t, quick, url)
			silent := strings.HasPrefix(c.name, "silent")
			if err == nil {
				if silent {
					s.options.Silence = 300 * time.Millisecond
				}
				err = s.Fetch(t.Context(), []origin.Missing{
					{Path: s.Sources()[0], Ranges: origin.Ranges{{0, 4096}, {mib, mib + 100}}}})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			var p *wire.Problem
			if !errors.As(err, &p) || p.Type != wire.SourceError || p.Hint == "" ||
				!strings.HasPrefix(p.Detail, srv.URL+"/x.csv: ") {
				t.Errorf("got %#v, want a problem that begins with the URL", err)
			}
			if text := fmt.Sprintf("%+v %+v", err, p); strings.Contains(text, "secret") {
				t.Errorf("the error has a secret: %s", text)
			}
			// A request that gets no processor time for so long is not sent.
			n := int(srv.gets.Load())
			if c.gets > 0 && n != c.gets && !(silent && n < c.gets) {
				t.Errorf("the server answered %d times, want %d", n, c.gets)
			}
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	srv := newServer(t, 10)
	srv.Close()
	_, err := stage(t, quick, srv.URL+"/x")
	if err == nil || !strings.Contains(err.Error(), "cannot connect: connection refused") {
		t.Errorf("got %v", err)
	}
	_, err = stage(t, quick, "http://nowhere.invalid/x?secret")
	if err == nil || err.Error() != "http://nowhere.invalid/x: no address was found for the host" {
		t.Errorf("got %v", err)
	}
}

func TestUnknownCertificateIsRefused(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	srv.Config.ErrorLog = nil
	_, err := stage(t, quick, srv.URL+"/x")
	if err == nil || !strings.HasSuffix(err.Error(), "is refused: its authority is unknown") {
		t.Errorf("got %v", err)
	}
	plain := newServer(t, 10)
	_, err = stage(t, quick, strings.Replace(plain.URL, "http:", "https:", 1))
	if err == nil || !strings.HasSuffix(err.Error(), "the server does not speak TLS") {
		t.Errorf("got %v", err)
	}
}
