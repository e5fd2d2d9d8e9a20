package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/testlog"
)

// mainEnv makes the test binary behave as the program. The daemon and the children of loads are
// started from it.
const mainEnv = "TENSORCACHE_TEST_MAIN"

// raceOptions are for the race detector: no sleep at the end of a process, and a data race ends a
// child, which then fails its load.
const raceOptions = "atexit_sleep_ms=0 halt_on_error=1"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) == "1" {
		os.Exit(run())
	}
	testscript.Main(m, map[string]func(){"tensorcache": func() { os.Exit(run()) }})
}

// TestScripts runs the files in testdata/script, one for each feature. Commands besides those of
// testscript are listed below.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true, Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":        exits,
			"gone":         checkGone,
			"kill-daemon":  killDaemon,
			"ready":        ready,
			"arrows":       writeArrowStream,
			"parquet":      parquetFile,
			"wide-parquet": wideParquetFile,
			"npy":          npy,
			"npz":          npz,
			"socket":       socket,
			"half":         half,
			"half-put":     halfPut,
			"ended":        ended,
			"empty":        empty,
			"damage":       damage,
			"tcp":          overTCP,
			"draining":     waitUntilDraining,
			"serve-files":  serveFiles,
			"served":       served,
			"stalled":      stalled,
			"no-secret":    noSecret,
		},
	})
}

// testTimeout is the maximum time for what must happen.
const testTimeout = time.Minute

func setup(env *testscript.Env) error {
	repo, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv(mainEnv, "1")
	env.Setenv("GORACE", raceOptions)
	env.Setenv("TENSORCACHE_TEST_RUN", os.Getenv("TENSORCACHE_TEST_RUN"))
	env.Setenv("TENSORCACHE_DIR", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("ETTH1", filepath.Join(repo, "examples/data/ETTh1.csv"))
	env.Setenv("PARQUET", filepath.Join(repo, "internal/ingest/load/testdata/flat-v2-zstd.parquet"))
	env.Setenv("LITERALS", filepath.Join(repo, "testdata/literals"))
	env.Setenv("TFRECORD", filepath.Join(repo, "internal/ingest/load/testdata/tensorflow.tfrecord"))
	env.Defer(func() {
		dirs, _ := filepath.Glob(filepath.Join(env.WorkDir, "*", control.DaemonFile))
		for _, file := range dirs {
			if d, err := control.ReadDaemon(filepath.Dir(file)); err == nil && d.PID > 1 {
				_ = syscall.Kill(d.PID, syscall.SIGKILL)
			}
		}
		logs, _ := filepath.Glob(filepath.Join(env.WorkDir, "*", "daemon.log"))
		for _, log := range logs {
			testlog.Show(env.T().(testlog.Test), log) // testscript.Run passes a *testing.T
		}
	})
	return nil
}

func cacheDir(ts *testscript.TestScript) string { return ts.Getenv("TENSORCACHE_DIR") }

// exits is the command exits CODE COMMAND..., which checks an exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// checkGone is the command gone, which checks that only files remain that may exist without a
// daemon.
func checkGone(ts *testscript.TestScript, _ bool, _ []string) {
	entries, err := os.ReadDir(cacheDir(ts))
	ts.Check(err)
	for _, e := range entries {
		if !slices.Contains([]string{"daemon.lock", control.LogFile, "start.lock", "datasets", "tmp",
			"token"}, e.Name()) {
			ts.Fatalf("%s was left behind", e.Name())
		}
	}
	empty(ts, false, nil)
	left, err := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "tensorcache-*"))
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("%v was left behind", left)
	}
}

// empty is a condition: the directory of unfinished loads is empty.
func empty(ts *testscript.TestScript, neg bool, _ []string) {
	entries, err := os.ReadDir(filepath.Join(cacheDir(ts), "tmp"))
	ts.Check(err)
	if (len(entries) == 0) == neg {
		ts.Fatalf("tmp holds %v", entries)
	}
}

// killDaemon is the command kill-daemon, which sends SIGKILL and waits for the daemon's end.
func killDaemon(ts *testscript.TestScript, _ bool, _ []string) {
	d, err := control.ReadDaemon(cacheDir(ts))
	ts.Check(err)
	ts.Check(syscall.Kill(d.PID, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	ts.Check(control.WaitGone(ctx, cacheDir(ts), d))
}

// ready waits until a daemon that was started in the background serves.
func ready(ts *testscript.TestScript, _ bool, _ []string) {
	wait(ts, "a daemon", func() bool {
		c, err := control.Connect(cacheDir(ts), false)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// wait waits for something that has no event.
func wait(ts *testscript.TestScript, what string, is func() bool) {
	end := time.Now().Add(testTimeout)
	for tick := time.NewTicker(5 * time.Millisecond); !is(); <-tick.C {
		if time.Now().After(end) {
			ts.Fatalf("after %s: no %s", testTimeout, what)
		}
	}
}

// socket is the command socket FILE, which makes a socket.
func socket(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: ts.MkAbs(args[0]), Net: "unix"})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(l.Close())
}

// half is the command half FROM TO, which writes the first half of a file.
func half(ts *testscript.TestScript, _ bool, args []string) {
	b := []byte(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b[:len(b)/2], 0o600))
}

// halfPut is the command half-put NAME, which sends half of the bytes of a put, and sets $CHILD to
// the pid of its child process.
func halfPut(ts *testscript.TestScript, _ bool, args []string) {
	d, err := control.ReadDaemon(cacheDir(ts))
	ts.Check(err)
	conn, err := net.Dial("unix", d.Feed)
	ts.Check(err)
	ts.Defer(func() { conn.Close() })
	request := fmt.Sprintf(
		`{"protocol": 1, "request": "put", "dataset": %q, "format": "columns", `+
			`"columns": [{"name": "a", "dtype": "float32", "shape": [1000], "bytes": 4000}]}`,
		args[0])
	frame := append([]byte{byte(len(request)), 0, 0, 0, 1, 0, 0, 0}, request...)
	_, err = conn.Write(append(frame, make([]byte, 2000)...))
	ts.Check(err)
	// the parent is a field of /proc/PID/stat
	child := regexp.MustCompile(`(?s)^(\d+) .*\) . ` + strconv.Itoa(d.PID) + ` `)
	wait(ts, "child", func() bool {
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		ts.Check(err)
		for _, path := range stats {
			b, _ := os.ReadFile(path) // the process may have ended
			m := child.FindSubmatch(b)
			if m == nil {
				continue
			}
			// os/exec has other, short-lived children: before exec, and to find out about pidfds
			if command, _ := os.ReadFile(
				filepath.Join(filepath.Dir(path), "cmdline")); bytes.HasSuffix(command,
				[]byte("\x00"+ingest.Verb+"\x00")) {
				ts.Setenv("CHILD", string(m[1]))
				return true
			}
		}
		return false
	})
	wait(ts, "unfinished load", func() bool {
		files, err := filepath.Glob(filepath.Join(cacheDir(ts), "tmp", "*", "*"))
		ts.Check(err)
		return len(files) > 0
	})
}

// ended is the command ended PID, which waits for the end of a process.
func ended(ts *testscript.TestScript, _ bool, args []string) {
	wait(ts, "end of process "+args[0], func() bool {
		b, err := os.ReadFile("/proc/" + args[0] + "/stat")
		return err != nil || strings.Contains(string(b), ") Z ")
	})
}
