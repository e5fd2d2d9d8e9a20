package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeDaemon serves a handler on a control socket, and writes the daemon.json of a directory.
func fakeDaemon(t *testing.T, dir string, handler http.HandlerFunc) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "control") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(short, "control.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		<-done
		os.RemoveAll(short)
	})
	if err := WriteDaemon(dir,
		wire.Daemon{PID: os.Getpid(), Version: "test", Protocols: wire.OwnProtocols, Control: path,
			Feed: filepath.Join(short, "feed.sock")}); err != nil {
		t.Fatal(err)
	}
}

func respond(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func TestDirPrefersTheFlagThenTheVariable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home/u")
	users, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range [][3]string{{"/flag", "/variable", "/flag"},
		{"", "/variable", "/variable"}, {"", "", filepath.Join(users, "tensorcache")}} {
		t.Setenv("TENSORCACHE_DIR", test[1])
		if got, err := Dir(test[0]); err != nil || got != test[2] {
			t.Errorf("flag %q, variable %q: %q, %v, want %q", test[0], test[1], got, err, test[2])
		}
	}
	if got, err := Dir("x"); err != nil || !filepath.IsAbs(got) {
		t.Errorf("%q, %v, want an absolute path", got, err)
	}
}

// TestSocketsAreFoundAfterTheDirectoryHasMoved moves the directory, as a mount in another
// container does. Sockets outside of the directory keep their paths.
func TestSocketsAreFoundAfterTheDirectoryHasMoved(t *testing.T) {
	dir := t.TempDir()
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "there")
	if err := os.MkdirAll(filepath.Join(here, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteDaemon(here, wire.Daemon{Control: filepath.Join(here, "control.sock"),
		Feed: "/run/short/feed.sock"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(here, there); err != nil {
		t.Fatal(err)
	}
	if d, err := ReadDaemon(there); err != nil ||
		d.Control != filepath.Join(there, "control.sock") || d.Feed != "/run/short/feed.sock" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestNoDaemonIsStartedIfThatIsForbidden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv("TENSORCACHE_AUTOSTART", "0")
	for _, start := range []bool{true, false} {
		if _, err := Connect(dir, start); !errors.Is(err, ErrNoDaemon) {
			t.Errorf("got %v, want ErrNoDaemon", err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made for nothing")
	}
}

func TestProblemsOfTheDaemonAreErrors(t *testing.T) {
	dir := t.TempDir()
	fakeDaemon(t, dir, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/health":
			respond(w, 200, wire.Health{Status: "ok"})
		case r.Method == http.MethodPost:
			respond(w, 422, wire.NewProblem(wire.InvalidSpec, "stride: no").WithHint("use another"))
		case r.URL.EscapedPath() == "/v1/datasets/a%2Fb":
			respond(w, 200, wire.Dataset{Dataset: "a/b"})
		default:
			respond(w, 500, "what?")
		}
	})
	c, err := Connect(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var d wire.Dataset
	if err := c.Get(t.Context(), Dataset("a/b", ""), &d); err != nil || d.Dataset != "a/b" {
		t.Errorf("%+v, %v", d, err)
	}
	var p *wire.Problem
	if err := c.Post(t.Context(), "/v1/x", map[string]int{}, &d); !errors.As(err, &p) ||
		p.Type != wire.InvalidSpec || p.Hint != "use another" {
		t.Errorf("got %v, want the problem", err)
	}
	if err := c.Delete(t.Context(), "/v1/x", &d); err == nil ||
		!strings.Contains(err.Error(),
			"the daemon answered 500 Internal Server Error to DELETE /v1/x") {
		t.Errorf("got %v", err)
	}
}

// TestATimedOutRequestIsRepeatedOnce: a client that was paused in the middle of a request,
// as a container may be, repeats it.
func TestATimedOutRequestIsRepeatedOnce(t *testing.T) {
	dir := t.TempDir()
	late := map[string]int{"/v1/once": 1, "/v1/ever": 100}
	fakeDaemon(t, dir, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]int
		if r.Method == http.MethodPost && (json.NewDecoder(r.Body).Decode(&body) != nil ||
			body["a"] != 1) {
			t.Errorf("it was sent %v", body)
		}
		if late[r.URL.Path]--; late[r.URL.Path] >= 0 {
			w.Header().Set("Connection", "close")
			respond(w, 408, wire.NewProblem(wire.Timeout, "too late"))
			return
		}
		respond(w, 200, wire.Health{Status: "ok"})
	})
	c, err := Connect(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var h wire.Health
	if err := c.Post(t.Context(), "/v1/once", map[string]int{"a": 1}, &h); err != nil ||
		h.Status != "ok" {
		t.Errorf("%+v, %v", h, err)
	}
	var p *wire.Problem
	if err := c.Get(t.Context(), "/v1/ever", &h); !errors.As(err, &p) || p.Type != wire.Timeout ||
		late["/v1/ever"] != 98 {
		t.Errorf("%v, %d left", err, late["/v1/ever"])
	}
}

func TestADaemonThatRefusesHealthLeavesNoConnection(t *testing.T) {
	dir := t.TempDir()
	fakeDaemon(t, dir, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 403, wire.NewProblem(wire.Forbidden, "user id 7 may not use this daemon"))
	})
	var p *wire.Problem
	if _, err := Connect(dir, true); !errors.As(err, &p) || p.Type != wire.Forbidden {
		t.Errorf("got %v, want forbidden", err)
	}
}

func TestADaemonOfAnotherProtocolIsRefused(t *testing.T) {
	dir := t.TempDir()
	fakeDaemon(t, dir, func(w http.ResponseWriter, _ *http.Request) { respond(w, 404, nil) })
	d, err := ReadDaemon(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.PID, d.Version, d.Protocols = 7, "9.9", wire.Protocols{Newest: 9}
	if err := WriteDaemon(dir, d); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(dir, true); !errors.Is(err, ErrProtocol) ||
		!strings.Contains(err.Error(), "(tensorcache 9.9, pid 7) speaks protocol 9") {
		t.Errorf("got %v, want ErrProtocol", err)
	}
}

func TestADaemonThatSpeaksNewerProtocolsTooIsUsed(t *testing.T) {
	dir := t.TempDir()
	fakeDaemon(t, dir, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, wire.Health{})
	})
	d, err := ReadDaemon(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Protocols = wire.Protocols{Newest: 9, Least: 1}
	if err := WriteDaemon(dir, d); err != nil {
		t.Fatal(err)
	}
	if c, err := Connect(dir, true); err != nil {
		t.Errorf("got %v, want a connection", err)
	} else {
		c.Close()
	}
}

func TestWaitGoneWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := WriteDaemon(dir, wire.Daemon{PID: 7, Started: time.Unix(1, 2)}); err != nil {
		t.Fatal(err)
	}
	for _, same := range []wire.Daemon{{PID: 7, Started: time.Unix(1, 2)}, {PID: 7}} {
		if err := WaitGone(short, dir, same); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v while it is held", err)
		}
	}
	for _, other := range []wire.Daemon{{PID: 6}, {PID: 6, Started: time.Unix(1, 2)},
		{PID: 7, Started: time.Unix(1, 1)}} {
		if err := WaitGone(t.Context(), dir, other); err != nil {
			t.Errorf("%v, want that %+v has left, since another one serves", err, other)
		}
	}
	gone := make(chan error)
	go func() { gone <- WaitGone(t.Context(), dir, wire.Daemon{PID: 7}) }()
	f.Close()
	if err := <-gone; err != nil {
		t.Error(err)
	}
}
