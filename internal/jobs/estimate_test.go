package jobs

import (
	"testing"
	"time"
)

func TestAnEstimateAssumesTheRateSoFar(t *testing.T) {
	var e estimate
	if left := e.eta(time.Hour); left != nil {
		t.Errorf("nothing is done, and %v s are left", *left)
	}
	const total = 100 * time.Second
	for at := time.Second; at <= total; at += time.Second {
		e.set(at.Seconds() / total.Seconds())
		want := (total - at).Seconds()
		if left := e.eta(at); left == nil || *left < want-1e-6 || *left > want+1e-6 {
			t.Fatalf("after %s: %v s are left, want %v", at, left, want)
		}
	}
}

func TestAnEstimateGrowsWithoutProgress(t *testing.T) {
	var e estimate
	e.set(0.5)
	if early := e.eta(time.Millisecond); early != nil {
		t.Errorf("after a millisecond %v s are left", *early)
	}
	if left := *e.eta(10 * time.Second); left != 10 {
		t.Errorf("%v s are left, want 10", left)
	}
	if left := *e.eta(20 * time.Second); left != 20 {
		t.Errorf("%v s are left, want 20: nothing has moved", left)
	}
}

func TestProgressNeverDecreases(t *testing.T) {
	var e estimate
	for _, step := range []struct{ share, want float64 }{{0.25, 0.25}, {0.125, 0.25}, {0.5, 0.5},
		{1.5, 1}, {0, 1}} {
		if e.set(step.share); e.share != step.want {
			t.Errorf("after %v: %v, want %v", step.share, e.share, step.want)
		}
	}
}
