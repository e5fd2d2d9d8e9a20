package ingest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Runner runs jobs, each in a child process of its own. It is safe for concurrent use.
type Runner struct {
	// Exe is the program that is the child, with [Verb].
	Exe string

	exiting sync.RWMutex // locked for reading while a child exits that Run no longer waits for
}

// Settle waits until the children of all jobs that are done have exited. Until then they map the
// files that they have written, which keeps the pages of these files in memory.
func (r *Runner) Settle() {
	r.exiting.Lock()
	defer r.exiting.Unlock()
}

// process is the child process of one job.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // its standard input: the job, and orders
	stdout *os.File // its answers
	stderr headBuffer
	exited chan struct{} // closed when it has ended: then stderr and err are there
	err    error
}

// startProcess starts a process. Its standard input stays open until it has ended, and its closing, also by the death of this process, is
// what ends an orphan.
func startProcess(exe string, conn *os.File) (*process, error) {
	c := &process{cmd: exec.Command(exe, Verb), exited: make(chan struct{})}
	childStdin, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		childStdin.Close()
		stdin.Close()
		return nil, err
	}
	c.stdin, c.stdout = stdin, stdout
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childStdin, childStdout, &c.stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's ^C is for the daemon to answer
	if conn != nil {
		c.cmd.ExtraFiles = []*os.File{conn}
	}
	err = c.cmd.Start()
	childStdin.Close()
	childStdout.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, fmt.Errorf("start the load process: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// kill ends the process at once.
func (c *process) kill() { _ = c.cmd.Process.Kill() } // it may have ended

// head keeps the beginning of what is written, where a dying Go program says why.
type headBuffer struct{ bytes.Buffer }

func (b *headBuffer) Write(p []byte) (int, error) {
	const maxBytes = 64 << 10
	b.Buffer.Write(p[:min(len(p), max(0, maxBytes-b.Len()))])
	return len(p), nil
}
