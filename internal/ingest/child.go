package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// connFD is the descriptor of the socket from which the child reads the values of a put.
const connFD = 3

// progressInterval is the time between two progress messages of the child.
const progressInterval = 100 * time.Millisecond

// maxJobBytes is the largest size of the job's line.
const maxJobBytes = 64 << 20

// Main is the main function of the child process. It reads the job from in, runs it, and writes
// responses to out as lines of JSON. It returns the exit code. If in ends, the parent has exited,
// and Main ends the process with exit code 3.
func Main(in io.Reader, out io.Writer) int {
	w := &lineWriter{out: out}
	debug.SetGCPercent(gcPercent)
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	r := bufio.NewReader(in)
	var job Job
	line, err := r.ReadBytes('\n')
	if err == nil && len(line) > maxJobBytes {
		err = fmt.Errorf("a job of %d bytes, at most %d", len(line), maxJobBytes)
	}
	if err == nil {
		err = json.Unmarshal(line, &job)
		job.AllowedRoots = job.SentRoots
	}
	if err != nil {
		w.write(response{Problem: &problem{Other: "read the job: " + err.Error()}})
		return 1
	}
	go func() {
		followCommands(r, func(cores int) { runtime.GOMAXPROCS(cores) })
		os.Exit(3)
	}()
	if err := limitMemory(job); err != nil {
		w.write(response{Problem: toProblem(err)})
		return 1
	}
	done := response{Done: true}
	if job.Ranges {
		done.Missing, err = load.Ranges(job.request())
	} else {
		err = job.run(w)
	}
	if err != nil {
		w.write(response{Problem: toProblem(err)})
		return 1
	}
	w.write(done)
	return 0
}

// followCommands calls setCores for each command that the parent sends. It returns when in ends. It
// ignores lines that are not valid commands.
func followCommands(in *bufio.Reader, setCores func(cores int)) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var c command
		if json.Unmarshal(line, &c) == nil && c.Cores > 0 {
			setCores(c.Cores)
		}
	}
}

// run loads the job and writes its progress to w every progressInterval.
func (j Job) run(w *lineWriter) error {
	names := origin.NamesOf(j.Origins, j.Sources)
	m := &progress.Meter{
		OnSource: func(source string) {
			source = names.In(source)
			w.write(response{Reading: &source})
		},
		OnSpaceNeeded: func(bytes int64) { w.write(response{Need: bytes}) },
	}
	m.Enter(progress.Count)
	stop := make(chan struct{})
	var reporter sync.WaitGroup
	reporter.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p := m.Progress()
				w.write(response{Progress: &p})
			}
		}
	})
	var conn io.Reader
	if j.Put != nil {
		f := os.NewFile(connFD, "connection")
		defer f.Close()
		conn = f
	}
	j.lastJob = true
	_, err := j.load(context.Background(), conn, m)
	close(stop)
	reporter.Wait()
	p := m.Progress()
	w.write(response{Progress: &p})
	return err
}

// load loads the job in this process. conn provides the values of a put.
func (j Job) load(ctx context.Context, conn io.Reader,
	m *progress.Meter) (*layout.Manifest, error) {
	r := j.request()
	r.Conn = conn
	return load.Run(ctx, r, m)
}

// request returns the job for package load.
func (j Job) request() load.Request {
	return load.Request{Dir: j.Dir, Options: j.Options, Put: j.Put, Kept: j.Kept,
		Append: j.Append, Scaled: j.Scaled, LeaveMapped: j.lastJob}
}

// ballastBytes is the size of an allocation that is never touched. It raises the heap size at which
// the first garbage collection starts, so that a small load ends before it. The ballast takes only
// address space.
const ballastBytes = 16 << 20

// gcPercent is the growth of the heap, in percent of the live heap, that starts a garbage
// collection.
const gcPercent = 50

// limitMemory limits the memory of this process to the job's MemoryLimit, so that a damaged file
// that requests too much memory ends only this process.
func limitMemory(j Job) error {
	if j.MemoryLimit == 0 {
		return nil
	}
	debug.SetMemoryLimit(j.MemoryLimit / 4 * 3) // collect more often near the limit
	return limitData(j.MemoryLimit)
}

// lineWriter writes responses as lines. It is safe for concurrent use.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lineWriter) write(a response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(a.line()) // followCommands detects that the parent has exited
}
