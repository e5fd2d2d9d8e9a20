//go:build faults

package mmapfile

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskIsAnErrorOfNewWritable(t *testing.T) {
	for _, point := range []string{"reserve", "map"} {
		t.Run(point, func(t *testing.T) {
			t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
			f := file(t, []byte("kept"))
			_, err := NewWritable(f, 1<<20)
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), f.Name()) {
				t.Errorf("got %v, want ENOSPC naming the file", err)
			}
			if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the file was not closed: %v", err)
			}
		})
	}
}
