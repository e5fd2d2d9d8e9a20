//go:build faults

package fault

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// setFault sets the fault. Without one, At resets the counts of points.
func setFault(t *testing.T, spec string) {
	t.Helper()
	t.Setenv("TENSORCACHE_FAULT", "")
	if err := At("write"); err != nil {
		t.Error(err)
	}
	t.Setenv("TENSORCACHE_FAULT", spec)
}

func TestFaultsOccurAtTheirPointOnly(t *testing.T) {
	points := []string{"create", "write", "reserve", "write", "publish"}
	for spec, want := range map[string][]bool{
		"":                 {false, false, false, false, false},
		"ENOSPC@write":     {false, true, false, true, false},
		"ENOSPC@write#2":   {false, false, false, true, false},
		"ENOSPC@3":         {false, false, true, false, false},
		"ENOSPC@elsewhere": {false, false, false, false, false},
	} {
		setFault(t, spec)
		for i, p := range points {
			if err := At(p); (err != nil) != want[i] || err != nil &&
				!errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: point %d, %s: got %v", spec, i+1, p, err)
			}
		}
	}
}

func TestEIOIsReturned(t *testing.T) {
	setFault(t, "EIO@write")
	if err := At("write"); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want EIO", err)
	}
}

func TestAnUnknownFaultPanics(t *testing.T) {
	setFault(t, "ENOSPACE@write")
	defer func() {
		if recover() == nil {
			t.Error("a misspelt fault was passed over")
		}
	}()
	_ = At("write")
}

func TestKillEndsTheProcessImmediately(t *testing.T) {
	if os.Getenv("TENSORCACHE_FAULT") == "KILL@here" {
		defer os.Exit(0) // does not run
		_ = At("here")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillEndsTheProcessImmediately$")
	cmd.Env = append(os.Environ(), "TENSORCACHE_FAULT=KILL@here")
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("got %v, want an end by SIGKILL", err)
	}
}
