package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// daemon is a daemon process of a test.
type daemon struct {
	*testing.T
	*exec.Cmd
	dir    string
	client *control.Client
}

// startFaulty starts a daemon, with a planted fault unless planted is empty, by a command that
// inherits descriptor 3 as the ready descriptor.
func startFaulty(t *testing.T, dir, planted string, command ...string) *daemon {
	t.Helper()
	ready, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), mainEnv+"=1", "GORACE="+raceOptions,
		"TENSORCACHE_FAULT="+planted)
	cmd.ExtraFiles = []*os.File{report}
	log, err := os.Create(filepath.Join(t.TempDir(), "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	testlog.OnFailure(t, log.Name())
	cmd.Stderr = log // a file, because Wait would wait for a pipe until all children have ended
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	report.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if b, err := io.ReadAll(ready); err != nil || string(b) != "ok\n" {
		t.Fatalf("the daemon says %q, %v", b, err)
	}
	c, err := control.Connect(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &daemon{t, cmd, dir, c}
}

func (d *daemon) stop() {
	d.Helper()
	var s wire.Stopping
	if err := d.client.Post(context.Background(), "/v1/stop", nil, &s); err != nil {
		d.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		d.Error(err)
	}
}

// halt stops all threads of the daemon. kill returns when the signal is sent: for a moment, another
// thread may still answer.
func (d *daemon) halt() {
	d.Helper()
	if err := unix.Kill(d.Process.Pid, unix.SIGSTOP); err != nil {
		d.Fatal(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(d.Process.Pid, &status, unix.WUNTRACED, nil); err != nil ||
		!status.Stopped() {
		d.Fatalf("the daemon is not halted but %#x, %v", status, err)
	}
}

// load loads a source and waits for the end of the job.
func (d *daemon) load(name, source string) (wire.Job, error) {
	d.Helper()
	return d.runJob(control.Dataset(name, "/load"), source)
}

// runJob starts a job that reads a source and waits for its end.
func (d *daemon) runJob(path, source string) (wire.Job, error) {
	d.Helper()
	var job wire.Job
	err := d.client.Post(d.Context(), path, map[string]any{"sources": []string{source}}, &job)
	for err == nil && !job.Ended() {
		err = d.client.Get(d.Context(), "/v1/jobs/"+job.Job+"?wait_ms=10000", &job)
	}
	return job, err
}
