package ingest

import (
	"os"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestEachJobRunsInItsOwnChild runs two jobs. No child may be left after each of them.
func TestEachJobRunsInItsOwnChild(t *testing.T) {
	r := &Runner{Exe: os.Args[0]}
	for range 2 {
		m, err := r.Run(t.Context(),
			job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\n2\n")}}), nil,
			nil)
		if err != nil || m.Rows != 2 {
			t.Fatalf("got %+v, %v, want 2 rows", m, err)
		}
		r.Settle()
		if n := children(t); len(n) > 0 {
			t.Errorf("children %v are left", n)
		}
	}
}

// TestAChildThatDoesNotExitIsEnded runs a child that reports that its job is done and then waits
// for input. Settle must not wait for it without end.
func TestAChildThatDoesNotExitIsEnded(t *testing.T) {
	script := loadtest.File(t, "child", "#!/bin/sh\necho '{\"done\":true}'\nexec cat\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &Runner{Exe: script}
	if _, err := r.Run(t.Context(),
		job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\n")}}), nil,
		nil); err == nil {
		t.Error("Run returned a manifest that the child did not write")
	}
	settled := make(chan struct{})
	go func() { r.Settle(); close(settled) }()
	select {
	case <-settled:
	case <-time.After(time.Minute):
		t.Fatalf("Settle waits for children %v", children(t))
	}
}

func TestSettleWaitsForTheChildrenOfItsMomentAlone(t *testing.T) {
	r, exit := &Runner{}, make(chan struct{})
	first, second := &process{released: make(chan struct{})},
		&process{released: make(chan struct{})}
	r.release(first, func() { <-exit })
	settled := make(chan struct{})
	go func() { r.Settle(); close(settled) }()
	r.release(second, func() {})
	<-second.released
	select {
	case <-settled:
		t.Error("Settle returned before the child had exited")
	default:
	}
	close(exit)
	<-settled
	r.Settle()
	if len(r.exiting) > 0 {
		t.Errorf("%d children are listed as exiting", len(r.exiting))
	}
}
