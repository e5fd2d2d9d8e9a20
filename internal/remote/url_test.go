package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestSecretsOfURLsReachTheirHostOnly(t *testing.T) {
	other := newServer(t, 3*mib)
	srv := newServer(t, 0)
	srv.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/z?signed=1",
			http.StatusFound)
		return true
	}
	url := strings.Replace(srv.URL, "//", "//us%40er:s3cret@", 1) + "/x.csv?key=s3cret#s3cret"
	s, err := fetch(t, quick, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := checkCopy(t, s, other.data)
	if f.URL != srv.URL+"/x.csv" {
		t.Errorf("got %s", f.URL)
	}
	for _, r := range srv.requests {
		user, password, _ := r.BasicAuth()
		if user != "us@er" || password != "s3cret" || r.URL.RawQuery != "key=s3cret" {
			t.Errorf("the host got %s:%s and %s", user, password, r.URL)
		}
	}
	if len(other.requests) == 0 {
		t.Fatal("nothing was redirected")
	}
	for _, r := range other.requests {
		if text := fmt.Sprintf("%v %v", r.URL, r.Header); strings.Contains(text, "s3cret") ||
			strings.Contains(text, "Basic") {
			t.Errorf("another host got %s", text)
		}
	}
	checkNoSecret(t, s, "s3cret")
}

// checkNoSecret checks the files and the origins of a staging.
func checkNoSecret(t *testing.T, s *Staging, secret string) {
	t.Helper()
	if text := fmt.Sprintf("%+v", s.Origins()); strings.Contains(text, secret) {
		t.Errorf("origins: %s", text)
	}
	err := filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, secret) {
			t.Errorf("a file is %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRedirectOnOneHostKeepsUserAndPassword(t *testing.T) {
	srv := newServer(t, 100)
	srv.change = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if user, _, _ := r.BasicAuth(); user != "user" {
			t.Errorf("%s has no user", r.URL)
		}
		if r.URL.Path != "/y" {
			http.Redirect(w, r, "/y", http.StatusFound)
			return true
		}
		return false
	}
	s, err := fetch(t, quick, strings.Replace(srv.URL, "//", "//user:password@", 1)+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkCopy(t, s, srv.data)
}

func TestRedirectToPlainHTTPIsRefused(t *testing.T) {
	to, from := newServer(t, 10), httptest.NewRequest(http.MethodGet, "https://h/x", nil)
	err := redirect(httptest.NewRequest(http.MethodGet, to.URL, nil), []*http.Request{from})
	if err != errDowngrade {
		t.Errorf("got %v", err)
	}
}

func TestEncodingOfTheFileItselfIsNone(t *testing.T) {
	srv := newServer(t, 100)
	srv.change = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Content-Encoding", "x-gzip")
		return false
	}
	s, err := fetch(t, quick, srv.URL+"/x.csv.gz", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkCopy(t, s, srv.data)
}

func TestEmptyFile(t *testing.T) {
	srv := newServer(t, 0)
	s, err := stage(t, quick, srv.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	checkCopy(t, s, nil)
}

func TestNamesOfCopies(t *testing.T) {
	long := strings.Repeat("é", 300)
	for url, want := range map[string]string{
		"http://h/a/b.parquet?x=/c.csv": "b.parquet",
		"http://h/a%20b.csv":            "a b.csv",
		"http://h/a%2f..%2f..":          "file",
		"http://h/..":                   "file",
		"http://h/a/":                   "a",
		"http://h":                      "file",
		"http://h/a%00%0ab":             "a__b",
		"http://h/%ff.csv":              "_.csv",
		"HTTP://h/" + long + ".npy":     strings.Repeat("é", 98) + ".npy",
	} {
		u, err := parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := u.name(); got != want {
			t.Errorf("%.60s: got %q, want %q", url, got, want)
		}
	}
}

func TestInvalidURLsAreRefusedWithoutTheirSecrets(t *testing.T) {
	for _, url := range []string{
		"http:///secret?x", "https:/user:secret@h/x", "http://user:secret@h:port/x",
		"http://user:sec ret@h/secret", "http://h/%zz?secret", "http://?secret", "http:secret@h",
		"ftp://user:secret@h/x", "http://h/\x00secret",
	} {
		_, err := parse(url)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", url, err)
		}
	}
	for url, want := range map[string]bool{"http://h/x": true, "HTTPS://h": true, "s3://b/x": false,
		"/http:/x": false, "x": false, "httpx://h": false} {
		if Is(url) != want {
			t.Errorf("%s: got %v", url, !want)
		}
	}
}

func TestHintsOfInvalidURLsNameWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:abc/x":           "write a number as the port",
		"http://user:sec/ret@h/x":  "write / in a user or a password as %2F",
		"http://h/%zz":             "write spaces as %20",
		"http://user:sec ret@h/x":  "write spaces as %20",
		"http:///x":                "name the host",
		"https://user:secret@/x?y": "name the host",
	} {
		_, err := parse(url)
		var p *wire.Problem
		if !errors.As(err, &p) || !strings.Contains(p.Hint, want) {
			t.Errorf("%s: got %+v, want the hint %q", url, p, want)
		}
	}
}

func FuzzURL(f *testing.F) {
	f.Add("https://user:password@host:8080/a/b%2fc.csv?q=1#f")
	f.Add("http://h//..;x=@/?")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parse(text)
		if err != nil {
			return
		}
		if err := origin.CheckURL(u.public); err != nil {
			t.Errorf("%q: %v", u.public, err)
		}
		name := u.name()
		if name != filepath.Base(filepath.Clean("/"+name)) || len(name) > maxName {
			t.Errorf("%q is no name of a file", name)
		}
	})
}
