package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// waitUntilDraining is the command draining, which waits until the daemon has received stop
// --when-idle.
func waitUntilDraining(ts *testscript.TestScript, _ bool, _ []string) {
	c, err := control.Connect(cacheDir(ts), false)
	ts.Check(err)
	defer c.Close()
	var s wire.Stopping // the same request again changes nothing
	ts.Check(c.Post(context.Background(), "/v1/stop", wire.StopRequest{WhenIdle: true}, &s))
	if s.Jobs != 1 {
		ts.Fatalf("%+v is waited for", s)
	}
}

// TestATerminatedDaemonEndsWhateverIsOpen ends a daemon with an attached trainer, a running load,
// requests that block in several ways, and idle connections.
func TestATerminatedDaemonEndsWhateverIsOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	cmd, log := startDaemon(t, "serve", "--dir", dir, "--http", "127.0.0.1:0",
		"--log-level", "debug")
	c, err := control.Connect(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	source := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(source, []byte("x\n"+strings.Repeat("1\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	var job wire.Job
	if err := c.Post(t.Context(), "/v1/datasets/a/load",
		map[string]any{"sources": []string{source}}, &job); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), "/v1/jobs/"+job.Job+"?wait_ms=20000", &job); err != nil ||
		job.State != wire.JobDone {
		t.Fatal(job.Error, err)
	}
	open := func(network, addr, say string) net.Conn {
		t.Helper()
		conn, err := net.Dial(network, addr)
		if err == nil {
			_, err = io.WriteString(conn, say)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	frame := func(body string) string {
		return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, 0, 1, 0, 0, 0}) + body
	}
	d := c.Daemon
	trainer := open("unix", d.Feed,
		frame(`{"protocol": 1, "request": "feed", "dataset": "a", "generation": 1, `+
			`"spec": {"context_length": 8}, "options": {"batch_size": 2}, "delivery": "slot"}`))
	if kind, _, err := wire.ReadHeader(trainer, make([]byte, wire.HeaderSize), 1<<20); err != nil ||
		kind != wire.FrameReply {
		t.Fatal(kind, err)
	}
	open("unix", d.Feed,
		frame(`{"protocol": 1, "request": "open", "dataset": "a", "generation": 1}`))
	open("unix", d.Feed,
		frame(`{"protocol": 1, "request": "put", "dataset": "b", "format": "columns", `+
			`"columns": [{"name": "a", "dtype": "float32", "shape": [1000], "bytes": 4000}]}`)+
			"half")
	open("unix", d.Feed, "")
	token, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	fields := "Host: " + d.HTTP + "\r\nAuthorization: Bearer " + string(token) + "\r\n"
	for _, at := range [][2]string{{"unix", d.Control}, {"tcp", d.HTTP}} {
		open(at[0], at[1], "")
		open(at[0], at[1], "GET /v1/health HTTP/1.1\r\nHos")
		open(at[0], at[1], "POST /v1/datasets/a/plan HTTP/1.1\r\n"+fields+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		go func() { // responses that are not read
			conn, err := net.Dial(at[0], at[1])
			if err == nil {
				_, _ = io.WriteString(conn,
					strings.Repeat("GET /v1/openapi.json HTTP/1.1\r\n"+fields+"\r\n", 1000))
				t.Cleanup(func() { conn.Close() })
			}
		}()
		stream := open(at[0], at[1], "GET /v1/events HTTP/1.1\r\n"+fields+"\r\n")
		if res, err := http.ReadResponse(bufio.NewReader(stream), nil); err != nil ||
			res.Header.Get("Content-Type") != "text/event-stream" {
			t.Error("no stream of events", err)
		}
	}
	for running := (wire.Jobs{}); len(running.Jobs) == 0; {
		if err := c.Get(t.Context(), "/v1/jobs?state=running", &running); err != nil {
			t.Fatal(err)
		}
	}

	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // new requests are refused, until no connection is accepted
		err := c.Get(t.Context(), "/v1/health", &wire.Health{})
		var p *wire.Problem
		if errors.As(err, &p) && p.Type != wire.ShuttingDown {
			t.Error(err)
		}
		if errors.Is(err, control.ErrGone) {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	t.Logf("ended after %s", time.Since(began))
	if strings.Contains(log.String(), "gave up") || strings.Contains(log.String(), string(token)) {
		t.Error(log)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sock") || e.Name() == control.DaemonFile {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// startDaemon runs this binary as a daemon until the test ends, and waits until it listens.
func startDaemon(t *testing.T, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	ready, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	cmd := exec.Command(os.Args[0], append(args, "--ready-fd", "3")...)
	log := &strings.Builder{}
	cmd.Stderr = io.MultiWriter(log, testlog.Writer(t))
	cmd.Env = append(os.Environ(), mainEnv+"=1", "GORACE="+raceOptions)
	cmd.ExtraFiles = []*os.File{report}
	err = cmd.Start()
	report.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if b, err := io.ReadAll(ready); err != nil || string(b) != "ok\n" {
		t.Fatal(fmt.Errorf("the daemon says %q, %w: %s", b, err, log))
	}
	return cmd, log
}
