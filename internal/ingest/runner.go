package ingest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Runner runs jobs, each in a child process of its own. Between jobs it keeps one child that waits for the next load of files, whose start
// costs as much as a small load: from the first that is done on, until none has come for Idle. It is safe for concurrent use.
type Runner struct {
	// Exe is the program that is the child, with [Verb].
	Exe string
	// Idle is how long a child waits for a job. Zero keeps none.
	Idle time.Duration

	mu       sync.Mutex
	closed   bool
	waiting  *process
	leave    *time.Timer       // ends the one that waits
	done     map[*process]bool // those that Run has not waited for, until they have ended
	changing sync.WaitGroup    // starts children that are to wait, ends them, and waits for the ends of others
}

// later follows a child that is done until it has ended; Close waits for it. ok is false once it was called.
func (r *Runner) later(c *process, ended func()) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if r.done == nil {
		r.done = map[*process]bool{}
	}
	r.done[c] = true
	r.changing.Go(func() {
		ended()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.done, c)
	})
	return true
}

// Settle returns once the children whose jobs are done have ended: until then they have what they made mapped, which keeps it in memory.
func (r *Runner) Settle() {
	r.mu.Lock()
	done := slices.Collect(maps.Keys(r.done))
	r.mu.Unlock()
	for _, c := range done {
		<-c.ended
	}
}

// take gives the child that waits, nil without one.
func (r *Runner) take() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.waiting
	if c == nil {
		return nil
	}
	r.waiting = nil
	r.leave.Stop()
	select {
	case <-c.ended: // somebody has killed it
		c.end()
		return nil
	default:
		return c
	}
}

// keep starts a child that waits, unless one does, and returns at once.
func (r *Runner) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Idle == 0 || r.closed {
		return
	}
	r.changing.Go(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || r.waiting != nil {
			return
		}
		c, err := startProcess(r.Exe, nil)
		if err != nil {
			return // the load that wants one says so
		}
		r.waiting = c
		r.leave = time.AfterFunc(r.Idle, func() { r.end(c) })
	})
}

// end ends a child if it waits still.
func (r *Runner) end(c *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == c && !r.closed { // else Close ends it
		r.waiting = nil
		r.changing.Go(c.end)
	}
}

// Close ends the child that waits: then there is none of those that no Run follows. It is idempotent.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.changing.Wait()
	if c := r.take(); c != nil {
		c.end()
	}
}

// process is a child that waits for a job or does one.
type process struct {
	cmd    *exec.Cmd
	feed   *os.File // its standard input: the job, and orders
	out    *os.File // its answers
	stderr head
	ended  chan struct{} // closed when it has ended: then stderr and err are there
	err    error
}

// startProcess starts a process. Its standard input stays open until it has ended, and its closing, also by the death of this process, is
// what ends an orphan.
func startProcess(exe string, conn *os.File) (*process, error) {
	c := &process{cmd: exec.Command(exe, Verb), ended: make(chan struct{})}
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		in.Close()
		feed.Close()
		return nil, err
	}
	c.feed, c.out = feed, out
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, answers, &c.stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's ^C is for the daemon to answer
	if conn != nil {
		c.cmd.ExtraFiles = []*os.File{conn}
	}
	err = c.cmd.Start()
	in.Close()
	answers.Close()
	if err != nil {
		feed.Close()
		out.Close()
		return nil, fmt.Errorf("start the load process: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// kill ends the process at once.
func (c *process) kill() { _ = c.cmd.Process.Kill() } // it may have ended

// end ends a process that does no job.
func (c *process) end() {
	c.kill()
	<-c.ended
	c.feed.Close()
	c.out.Close()
}

// head keeps the beginning of what is written, where a dying Go program says why.
type head struct{ bytes.Buffer }

func (t *head) Write(p []byte) (int, error) {
	const most = 64 << 10
	t.Buffer.Write(p[:min(len(p), max(0, most-t.Len()))])
	return len(p), nil
}
