package ingest

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// runs does a load by a runner and waits until the next child waits.
func runs(t *testing.T, r *Runner) {
	t.Helper()
	m, err := r.Run(t.Context(), job(t, Options{Sources: []string{source(t, "x.csv", "a\n1\n2\n")}}), nil, nil)
	if err != nil || m.Rows != 2 {
		t.Fatalf("got %+v, %v, want 2 rows", m, err)
	}
	r.changing.Wait()
}

// waits is the process that waits for the next load, 0 without one.
func waits(r *Runner) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		return 0
	}
	return r.waiting.cmd.Process.Pid
}

func TestOneChildWaitsForTheNextLoadAndIsTheOneThatDoesIt(t *testing.T) {
	r := &Runner{Exe: os.Args[0], Idle: time.Hour}
	if runs(t, r); waits(r) == 0 {
		t.Fatal("none waits after a load")
	}
	c := r.waiting
	if runs(t, r); waits(r) == 0 || waits(r) == c.cmd.Process.Pid {
		t.Errorf("process %d waits after the second load, %d before", waits(r), c.cmd.Process.Pid)
	}
	select {
	case <-c.ended:
	default:
		t.Error("the one that waited has not done the second load")
	}
	c = r.waiting
	r.Close()
	r.Close()
	if n := children(t); slices.Contains(n, c.cmd.Process.Pid) || waits(r) != 0 {
		t.Errorf("children %v are left", n)
	}
	if runs(t, r); waits(r) != 0 {
		t.Error("a closed runner keeps a child")
	}
}

func TestAChildThatDiedWhileItWaitedIsReplaced(t *testing.T) {
	r := &Runner{Exe: os.Args[0], Idle: time.Hour}
	defer r.Close()
	runs(t, r)
	c := r.waiting
	c.kill()
	<-c.ended
	runs(t, r)
}

func TestAChildWaitsNoLongerThanItMay(t *testing.T) {
	r := &Runner{Exe: os.Args[0], Idle: time.Hour}
	defer r.Close()
	runs(t, r)
	c := r.waiting
	r.leave.Reset(0)
	<-c.ended
	if waits(r) != 0 {
		t.Error("it has ended but waits")
	}
	runs(t, r)
}

func TestCloseWaitsForAChildWhoseTimeIsUp(t *testing.T) {
	r := &Runner{Exe: os.Args[0], Idle: time.Hour}
	runs(t, r)
	c := r.waiting
	r.leave.Reset(0)
	for waits(r) != 0 {
		runtime.Gosched()
	}
	r.Close()
	select {
	case <-c.ended:
	default:
		t.Error("it has not ended")
	}
}

func TestNoChildWaitsWhereNoneIsWanted(t *testing.T) {
	r := &Runner{Exe: os.Args[0]}
	if runs(t, r); waits(r) != 0 || len(children(t)) > 0 {
		t.Errorf("children %v wait", children(t))
	}
}

func TestAChildThatIsDoneEndsWhateverKeepsIt(t *testing.T) {
	stays := source(t, "child", "#!/bin/sh\necho '{\"done\":true}'\nexec cat\n")
	if err := os.Chmod(stays, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &Runner{Exe: stays}
	if _, err := r.Run(t.Context(), job(t, Options{Sources: []string{source(t, "x.csv", "a\n1\n")}}), nil, nil); err == nil {
		t.Error("there is a manifest that nobody wrote")
	}
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatalf("children %v are waited for", children(t))
	}
}

func TestSettleWaitsForChildrenThatAreDone(t *testing.T) {
	var r Runner
	r.Settle()
	c := &process{ended: make(chan struct{})}
	r.later(c, func() { <-c.ended })
	over := make(chan bool, 1)
	go func() {
		over <- true
		close(c.ended)
	}()
	r.Settle()
	if len(over) == 0 {
		t.Error("the child has not ended")
	}
	r.Close()
	if len(r.done) > 0 {
		t.Error("it is kept after its end")
	}
}
