package ingest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Runner runs each job in a new child process. It is safe for concurrent use.
type Runner struct {
	// Exe is the program that Run starts as the child, with the verb [Verb].
	Exe string

	mu      sync.Mutex
	exiting map[*process]bool // children that exit after Run has returned
}

// Settle waits until the children of all jobs that have finished by now have exited. Until then,
// the children still map the files that they wrote, so that the pages of these files stay in
// memory.
func (r *Runner) Settle() {
	r.mu.Lock()
	exiting := maps.Clone(r.exiting)
	r.mu.Unlock()
	for c := range exiting {
		<-c.released
	}
}

// release runs waitExit, which waits for the exit of a child, in a goroutine of its own.
func (r *Runner) release(c *process, waitExit func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exiting == nil {
		r.exiting = map[*process]bool{}
	}
	r.exiting[c] = true
	go func() {
		waitExit()
		r.mu.Lock()
		delete(r.exiting, c)
		r.mu.Unlock()
		close(c.released)
	}()
}

// process is the child process of one job.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // write end of the child's standard input: the job, and commands
	stdout *os.File // read end of the child's standard output: responses
	stderr headBuffer
	exited chan struct{} // closed when the child has exited; stderr and err are valid then
	err    error         // of [exec.Cmd.Wait]
	// closed when the child has exited and its pipes are closed, after Run has returned
	released chan struct{}
}

// startProcess starts a child process. Its standard input stays open until it has exited. If this
// process ends, the system closes that pipe, which ends the child.
func startProcess(exe string, conn *os.File) (*process, error) {
	c := &process{cmd: exec.Command(exe, Verb), exited: make(chan struct{}),
		released: make(chan struct{})}
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
	// A Ctrl-C in the terminal must reach only the daemon.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
func (c *process) kill() { _ = c.cmd.Process.Kill() } // it may have exited already

// headBuffer stores the first 64 KiB of what is written and discards the rest. A Go program that
// crashes writes the reason first.
type headBuffer struct{ bytes.Buffer }

func (b *headBuffer) Write(p []byte) (int, error) {
	const maxBytes = 64 << 10
	b.Buffer.Write(p[:min(len(p), max(0, maxBytes-b.Len()))])
	return len(p), nil
}
