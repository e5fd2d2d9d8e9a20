package files

import (
	"slices"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestTooManySourcesAreRefused(t *testing.T) {
	_, err := AllowedRoots{}.Stat(slices.Repeat([]string{"/not/there.csv"}, MaxFiles+1))
	loadtest.Refused(t, err, `sources: "100001 files": want at most 100000`, "append the others")
	loadtest.Refused(t, CheckDescriptors(1025, 1024),
		`sources: "1025 files": want fewer than the 1024 that may be open at once`, "ulimit -n")
	if err := CheckDescriptors(1024, 1024); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, AsSourceError("/there.csv", syscall.EMFILE),
		"/there.csv: too many open files", "ulimit -n")
}
