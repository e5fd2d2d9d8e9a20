//go:build !faults

package fault

import "testing"

func TestANormalBuildInjectsNoFaults(t *testing.T) {
	t.Setenv("TENSORCACHE_FAULT", "KILL@write")
	if err := At("write"); err != nil || Enabled {
		t.Errorf("got %v", err)
	}
}
