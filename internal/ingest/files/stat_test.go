package files

import (
	"slices"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestTooManySourcesAreRefused(t *testing.T) {
	_, err := AllowedRoots{}.Stat(slices.Repeat([]string{"/not/there.csv"}, MaxFiles+1))
	loadtest.Refused(t, err, `sources: got 100001, want at most 100000 files`, "append the others")
	loadtest.Refused(t, CheckDescriptors(1025, 1024),
		`sources: got 1025, want fewer than the 1024 files that may be open at once`, "ulimit -n")
	if err := CheckDescriptors(1024, 1024); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, AsSourceError("/there.csv", syscall.EMFILE),
		"/there.csv: too many open files", "ulimit -n")
}
