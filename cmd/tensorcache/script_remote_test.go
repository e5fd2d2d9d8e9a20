package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// fileServers are the servers of scripts, by their environment's directory.
var fileServers sync.Map

// fileServer serves the directory of a script.
type fileServer struct {
	*httptest.Server
	sent    atomic.Int64
	stalled chan struct{}
}

// secret is the password of the files below /private/.
const secret = "s3cret"

// serveFiles is the command serve-files, which serves the directory of the script and sets $URL.
// Files below /private/ need the user "user" and the secret as password. Requests below /stall/ are
// not answered after their first bytes. Answers below /surplus/ have the secret after their end.
func serveFiles(ts *testscript.TestScript, _ bool, _ []string) {
	dir := ts.Getenv("WORK")
	s := &fileServer{stalled: make(chan struct{}, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, stall := strings.CutPrefix(r.URL.Path, "/stall")
		path, private := strings.CutPrefix(path, "/private")
		path, surplus := strings.CutPrefix(path, "/surplus")
		if user, password, _ := r.BasicAuth(); private && (user != "user" || password != secret) {
			http.Error(w, "private", http.StatusUnauthorized)
			return
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.Clean("/"+path)))
		if errors.Is(err, os.ErrNotExist) {
			http.NotFound(w, r)
			return
		}
		if err != nil {
			http.Error(w, "unreadable", http.StatusInternalServerError)
			return
		}
		if surplus {
			sendSurplus(w, r, b)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b)))
		if stall && r.Method == http.MethodGet {
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			_, _ = w.Write(b[:1])
			_ = http.NewResponseController(w).Flush()
			s.stalled <- struct{}{}
			<-r.Context().Done()
			return
		}
		http.ServeFile(&countedWriter{w, &s.sent}, r, filepath.Join(dir, filepath.Clean("/"+path)))
	}))
	ts.Defer(s.Close)
	fileServers.Store(dir, s)
	ts.Setenv("URL", s.URL)
	ts.Setenv("PRIVATE_URL", strings.Replace(s.URL, "//", "//user:"+secret+"@", 1)+"/private")
}

// sendSurplus answers with a file, and sends more bytes than the answer says.
func sendSurplus(w http.ResponseWriter, r *http.Request, b []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: %d\r\n\r\n", len(b))
	if r.Method == http.MethodGet {
		answer += string(b)
	}
	_, _ = conn.Write([]byte(answer + secret))
}

// countedWriter counts the bytes of bodies.
type countedWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

func fileServerOf(ts *testscript.TestScript) *fileServer {
	s, ok := fileServers.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no serve-files before this line")
	}
	return s.(*fileServer)
}

// served is the command served MIN MAX, which checks how many bytes of files were served since the
// last served.
func served(ts *testscript.TestScript, _ bool, args []string) {
	least, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	most, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	if n := fileServerOf(ts).sent.Swap(0); n < least || n > most {
		ts.Fatalf("%d bytes were served, want %d to %d", n, least, most)
	}
}

// stalled is the command stalled, which waits until a request below /stall/ stalls.
func stalled(ts *testscript.TestScript, _ bool, _ []string) { <-fileServerOf(ts).stalled }

// noSecret is the command no-secret, which checks that no file in the cache directory has the
// secret, by which it also checks the daemon's log.
func noSecret(ts *testscript.TestScript, _ bool, _ []string) {
	files := 0
	ts.Check(filepath.WalkDir(cacheDir(ts), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) || strings.Contains(path, secret) {
			ts.Fatalf("%s has the password", path)
		}
		return err
	}))
	if files < 3 {
		ts.Fatalf("%d files were found", files)
	}
}
