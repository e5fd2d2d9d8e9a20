//go:build faults && unix

package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// smallLoad returns the options of a load of one row.
func smallLoad(t *testing.T) option.Options {
	return option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\n")}}
}

// checkNoChildren fails the test if this process has children.
func checkNoChildren(t *testing.T) {
	t.Helper()
	if n := children(t); len(n) > 0 {
		t.Errorf("children %v are left", n)
	}
}

func TestAKilledChildIsErrKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the child cannot be found on this system")
	}
	_, err := whileBlocked(t.Context(), t, "ingest.read", smallLoad(t), func() error {
		for _, pid := range children(t) {
			args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && strings.HasSuffix(string(args), "\x00"+Verb+"\x00") {
				return syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return errors.New("there is no child")
	})
	if !errors.Is(err, loaderr.ErrKilled) ||
		!strings.Contains(err.Error(), ".csv: load process died: signal 9: killed") {
		t.Errorf("%v, want ErrKilled with the source and the signal", err)
	}
	checkNoChildren(t)
}

func TestCancelKillsTheChild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := whileBlocked(ctx, t, "ingest.read", smallLoad(t), func() error {
		cancel()
		for end := time.Now().Add(time.Minute); len(children(t)) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				return errors.New("the child still runs")
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	checkNoChildren(t)
}

// TestAChildExitsWhenItsParentIsGone closes the child's standard input, as the exit of a parent
// does.
func TestAChildExitsWhenItsParentIsGone(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "hold") // nobody opens it for writing
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], Verb)
	cmd.Env = append(os.Environ(), "TENSORCACHE_FAULT=HOLD@ingest.read", "TENSORCACHE_HOLD="+fifo)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(job(t, smallLoad(t)))
	if _, err := in.Write(append(b, '\n')); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the child has started to work
		t.Fatal(err)
	}
	in.Close()
	output, _ := io.ReadAll(out)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 3 ||
		bytes.Contains(output, []byte(`"done"`)) {
		t.Errorf("the child ended with %v and wrote %s", err, output)
	}
}
