package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Verb is the hidden command line verb of the child process. For it, the program's main function
// calls [Main].
const Verb = "ingest"

// Run runs a job in a child process like [Runner.Run], and waits until the child has exited. exe is
// the program.
func Run(
	ctx context.Context, exe string, job Job, conn *os.File, progress func(progress.Progress),
) (*layout.Manifest, error) {
	r := &Runner{Exe: exe}
	defer r.Settle()
	return r.Run(ctx, job, conn, progress)
}

// Run runs a job in a child process. It returns the manifest as soon as the child reports that the
// job is done, and an error if the child ends without that. If ctx is cancelled, Run kills the
// child.
//
// conn is the socket from which the child reads the values of a put, or nil. Run calls progress in
// the goroutine of its caller. progress may be nil.
func (r *Runner) Run(
	ctx context.Context, job Job, conn *os.File, progress func(progress.Progress),
) (*layout.Manifest, error) {
	if _, err := r.runChild(ctx, job, conn, progress); err != nil {
		return nil, err
	}
	return layout.ReadManifest(job.Dir)
}

// Ranges returns the bytes of staged files that a job reads and that are not staged, as far as the
// staged bytes tell. It runs a child process, and needs no directory.
func (r *Runner) Ranges(ctx context.Context, job Job) ([]origin.Missing, error) {
	job.Ranges = true
	a, err := r.runChild(ctx, job, nil, nil)
	return a.Missing, err
}

// runChild runs a job in a child process and returns its last response.
func (r *Runner) runChild(
	ctx context.Context, job Job, conn *os.File, progress func(progress.Progress),
) (last response, err error) {
	if err := job.Validate(); err != nil {
		return last, err
	}
	if job.MemoryLimit == 0 {
		limit, err := memoryLimit(job, machine.Available())
		if err != nil {
			return last, err
		}
		job.MemoryLimit = limit
	}
	job.SentRoots = job.AllowedRoots
	line, err := json.Marshal(job)
	if err != nil {
		return last, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := startProcess(r.Exe, conn)
	if err != nil {
		return last, err
	}
	defer context.AfterFunc(ctx, c.kill)()
	var sender sync.WaitGroup
	sender.Go(func() { sendCommands(c.stdin, line, job.Cores, c.exited) })
	reading, last, childErr := readResponses(c.stdout, progress, func(need int64) {
		if job.OnSpaceNeeded != nil {
			if err := job.OnSpaceNeeded(need); err != nil {
				cancel(err)
			}
		}
	})
	waitExit := func() {
		<-c.exited
		c.stdout.Close()
		c.stdin.Close() // ends a blocked write of sendCommands
		sender.Wait()
	}
	if last.Done { // the result can be used while the child exits
		c.kill()
		r.release(c, waitExit)
		if ctx.Err() != nil {
			return last, context.Cause(ctx)
		}
		return last, nil
	}
	waitExit()
	switch {
	case ctx.Err() != nil:
		return last, context.Cause(ctx)
	case childErr == nil:
		childErr = exitError(c.cmd.ProcessState, c.err, c.stderr.String(), job.MemoryLimit)
	}
	if errors.Is(childErr, loaderr.ErrMemory) {
		childErr = withMemoryHint(job, childErr)
	}
	if reading != "" &&
		(errors.Is(childErr, loaderr.ErrMemory) || errors.Is(childErr, loaderr.ErrKilled)) {
		childErr = fmt.Errorf("%s: %w", reading, childErr)
	}
	return last, childErr
}

// sendCommands writes the job, and then a command for each number of cores, until the child has
// exited.
func sendCommands(stdin io.Writer, job []byte, cores <-chan int, exited <-chan struct{}) {
	_, _ = stdin.Write(append(job, '\n')) // if it fails, the child has exited and Wait reports it
	for {
		select {
		case <-exited:
			return
		case n := <-cores:
			b, err := json.Marshal(command{Cores: n})
			if err != nil { // a number always marshals
				panic(err)
			}
			_, _ = stdin.Write(append(b, '\n'))
		}
	}
}

// readResponses reads the child's responses until the child reports that the job is done, or closes
// its standard output. reading is the source that the child read last; last is the response that
// the job is done, if there is one; problem is the error that the child reported.
func readResponses(
	stdout io.Reader, progress func(progress.Progress), need func(int64),
) (reading string, last response, problem error) {
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return reading, last, problem
		}
		var a response
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		switch {
		case a.Problem != nil:
			problem = a.Problem.error()
		case a.Reading != nil:
			reading = *a.Reading
		case a.Done:
			return reading, a, problem
		case a.Need > 0:
			need(a.Need)
		case a.Progress != nil && progress != nil:
			progress(*a.Progress)
		}
	}
}

// exitError returns the error of a child that exited without a result. It wraps ErrMemory if stderr
// shows that the child ran out of memory, else ErrKilled. limit is the child's memory limit in
// bytes.
func exitError(state *os.ProcessState, err error, stderr string, limit int64) error {
	text := firstLine(stderr)
	// The last two patterns are crashes of Go's runtime. It does not check all allocations for
	// itself, such as those for the queue of the garbage collector.
	for _, pattern := range []string{
		"out of memory", "cannot allocate memory", "failed to allocate", "pthread_create failed",
		"unexpected signal during runtime execution", "runtime.(*spanQueue)",
	} {
		if strings.Contains(stderr, pattern) {
			return fmt.Errorf("%w: it reached its limit of %s",
				loaderr.ErrMemory, humanize.IBytes(uint64(limit)))
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%w: %w", loaderr.ErrKilled, err)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		name := status.Signal().String()
		if status.Signal() == syscall.SIGKILL {
			name += ", by somebody or by the system for want of memory"
		}
		return fmt.Errorf("%w: signal %d: %s", loaderr.ErrKilled, status.Signal(), name)
	}
	if text != "" {
		return fmt.Errorf("%w: %s: %s", loaderr.ErrKilled, state, text)
	}
	return fmt.Errorf("%w: %s", loaderr.ErrKilled, state)
}

// firstLine returns the first line of s, without surrounding white space.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
