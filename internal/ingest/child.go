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
	"github.com/tensorcache/tensorcache/layout"
)

// connFD is the descriptor of the socket that a put comes from.
const connFD = 3

// progressEvery is how often the child tells how far it is.
const progressInterval = 100 * time.Millisecond

// maxJob bounds the job's line.
const maxJobBytes = 64 << 20

// Main is the whole life of the child: it reads the job from in, does it, and writes lines of JSON to out. It returns the exit
// code. It ends the process when in ends: the parent is gone.
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
		job.AllowedRoots = job.Within
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
	if err := job.run(w); err != nil {
		w.write(response{Problem: toProblem(err)})
		return 1
	}
	w.write(response{Done: true})
	return 0
}

// obey follows the parent's orders until it is gone.
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

// do does the job and tells how far it is, until it is done.
func (j Job) run(w *lineWriter) error {
	m := &progress.Meter{
		OnSource:      func(source string) { w.write(response{Reading: &source}) },
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

// load does the job in this process. conn is what the values of a put come from.
func (j Job) load(ctx context.Context, conn io.Reader, m *progress.Meter) (*layout.Manifest, error) {
	return load.Run(ctx, load.Request{Dir: j.Dir, Options: j.Options, Put: j.Put, Conn: conn, Append: j.Append, LeaveMapped: j.lastJob}, m)
}

// slackBytes lets the heap grow by some MiB before it is first collected, as if it held this much already: it is never touched, so
// that it takes address space only, and a small load is done before there is anything to collect.
const ballastBytes = 16 << 20

// collectAt is by how much of its live size (in percent) the heap grows before it is collected.
const gcPercent = 50

// limitMemory bounds the process, so that a damaged file that asks for more than there is ends this process and no other.
func limitMemory(j Job) error {
	if j.MemoryLimit == 0 {
		return nil
	}
	debug.SetMemoryLimit(j.MemoryLimit / 4 * 3) // collect harder before the wall
	return limitData(j.MemoryLimit)
}

// lines writes answers, one at a time.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lineWriter) write(a response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(a.line()) // a parent that is gone is noticed elsewhere
}
