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
const progressEvery = 100 * time.Millisecond

// maxJob bounds the job's line.
const maxJob = 64 << 20

// Main is the whole life of the child: it reads the job from in, does it, and writes lines of JSON to out. It returns the exit
// code. It ends the process when in ends: the parent is gone.
func Main(in io.Reader, out io.Writer) int {
	w := &lines{out: out}
	debug.SetGCPercent(collectAt)
	slack := make([]byte, slackBytes)
	defer runtime.KeepAlive(slack)
	r := bufio.NewReader(in)
	var job Job
	line, err := r.ReadBytes('\n')
	if err == nil && len(line) > maxJob {
		err = fmt.Errorf("a job of %d bytes, at most %d", len(line), maxJob)
	}
	if err == nil {
		err = json.Unmarshal(line, &job)
		job.AllowedRoots = job.Within
	}
	if err != nil {
		w.write(answer{Problem: &problem{Other: "read the job: " + err.Error()}})
		return 1
	}
	go func() {
		obey(r, func(cores int) { runtime.GOMAXPROCS(cores) })
		os.Exit(3)
	}()
	if err := limitMemory(job); err != nil {
		w.write(answer{Problem: toProblem(err)})
		return 1
	}
	if err := job.do(w); err != nil {
		w.write(answer{Problem: toProblem(err)})
		return 1
	}
	w.write(answer{Done: true})
	return 0
}

// obey follows the parent's orders until it is gone.
func obey(in *bufio.Reader, use func(cores int)) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var o order
		if json.Unmarshal(line, &o) == nil && o.Cores > 0 {
			use(o.Cores)
		}
	}
}

// do does the job and tells how far it is, until it is done.
func (j Job) do(w *lines) error {
	m := &progress.Meter{
		OnSource:      func(source string) { w.write(answer{Reading: &source}) },
		OnSpaceNeeded: func(bytes int64) { w.write(answer{Need: bytes}) },
	}
	m.Enter(progress.Count)
	stop := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p := m.Progress()
				w.write(answer{Progress: &p})
			}
		}
	})
	var conn io.Reader
	if j.Put != nil {
		f := os.NewFile(connFD, "connection")
		defer f.Close()
		conn = f
	}
	j.lastly = true
	_, err := j.load(context.Background(), conn, m)
	close(stop)
	telling.Wait()
	p := m.Progress()
	w.write(answer{Progress: &p})
	return err
}

// load does the job in this process. conn is what the values of a put come from.
func (j Job) load(ctx context.Context, conn io.Reader, m *progress.Meter) (*layout.Manifest, error) {
	return load.Run(ctx, load.Request{Dir: j.Dir, Options: j.Options, Put: j.Put, Conn: conn, Append: j.Append, LeaveMapped: j.lastly}, m)
}

// slackBytes lets the heap grow by some MiB before it is first collected, as if it held this much already: it is never touched, so
// that it takes address space only, and a small load is done before there is anything to collect.
const slackBytes = 16 << 20

// collectAt is by how much of its live size (in percent) the heap grows before it is collected.
const collectAt = 50

// limitMemory bounds the process, so that a damaged file that asks for more than there is ends this process and no other.
func limitMemory(j Job) error {
	if j.MemoryLimit == 0 {
		return nil
	}
	debug.SetMemoryLimit(j.MemoryLimit / 4 * 3) // collect harder before the wall
	return limitData(j.MemoryLimit)
}

// lines writes answers, one at a time.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) write(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(a.line()) // a parent that is gone is noticed elsewhere
}
