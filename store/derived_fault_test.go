//go:build faults

package store

import (
	"testing"
)

func TestDerivedValuesStayInMemoryIfTheDiskIsFull(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	t.Setenv("TENSORCACHE_FAULT", "ENOSPC@derived")
	if _, computed := derive(t, s, "a"); !computed {
		t.Error("it was not computed")
	}
	if _, again := derive(t, s, "a"); again {
		t.Error("it was computed twice")
	}
}
