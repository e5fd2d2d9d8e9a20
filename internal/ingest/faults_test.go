//go:build faults

package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
)

// faultPoints lists all fault points that a load of files passes.
var faultPoints = []string{
	"ingest.count", "create", "write", "reserve", "map", "ingest.fill", "ingest.order",
	"ingest.finish", "manifest",
}

// TestFullDiskAtAnyPointReportsNeedAndHave fails a load with ENOSPC at each fault point. The error
// must have the needed and the free bytes, and no manifest may be written.
func TestFullDiskAtAnyPointReportsNeedAndHave(t *testing.T) {
	path := loadtest.File(t, "x.csv", "i,t,a\nx,1,1\nx,2,2.5\n")
	for _, point := range append(faultPoints, "create#2", "write#2", "reserve#2", "map#2") {
		t.Run(point, func(t *testing.T) {
			t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
			j := job(t, option.Options{
				Sources: []string{path}, ItemID: []string{"i"}, Time: "t",
				Scale: option.All("standard"), Sort: true,
			})
			_, err := Run(t.Context(), os.Args[0], j, nil, nil)
			var s *loaderr.NoSpaceError
			if !errors.Is(err, loaderr.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) ||
				!errors.As(err, &s) || s.Have <= 0 || s.Need <= 0 {
				t.Errorf("%v is %+v", err, s)
			}
			if _, err := os.Stat(filepath.Join(j.Dir, "manifest.json")); err == nil {
				t.Error("a manifest was written")
			}
		})
	}
}

// TestFullDiskAtAnyReservationLeavesNoFiles fails every reservation of space, one after the other,
// of a load that uses every kind of scratch file.
func TestFullDiskAtAnyReservationLeavesNoFiles(t *testing.T) {
	path := loadtest.File(t, "x.csv", "i,t,a\nx,9,1\nx,1,2.5\nx,1,3.5\nx,5,1\ny,5,1\n")
	o := option.Options{
		Sources: []string{path}, ItemID: []string{"i"}, Time: "t", Scale: option.All("standard"),
		Sort: true, Duplicates: option.DuplicatesMean,
	}
	o.Items, o.Regrid = []json.RawMessage{json.RawMessage(`"x"`)}, json.RawMessage("4")
	for n := 1; ; n++ {
		t.Setenv("TENSORCACHE_FAULT", fmt.Sprintf("ENOSPC@reserve#%d", n))
		j := job(t, o)
		_, err := Run(t.Context(), os.Args[0], j, nil, nil)
		if err == nil {
			if n < 9 { // source, its rows, result, scratch, row map, items, times, sorted rows, …
				t.Errorf("the load makes %d reservations", n-1)
			}
			return
		}
		if !errors.Is(err, loaderr.ErrNoSpace) {
			t.Errorf("reservation %d: %v", n, err)
		}
		left, err := os.ReadDir(j.Dir)
		if err != nil || len(left) > 0 {
			t.Errorf("reservation %d leaves %v: %v", n, left, err)
		}
	}
}

func TestIOErrorsAndKillsAreReported(t *testing.T) {
	path := loadtest.File(t, "x.csv", "a\n1\n2.5\n")
	for _, point := range faultPoints {
		for _, kind := range []string{"EIO", "KILL"} {
			t.Setenv("TENSORCACHE_FAULT", kind+"@"+point)
			_, err := Run(t.Context(), os.Args[0],
				job(t, option.Options{Sources: []string{path}}), nil, nil)
			if kind == "KILL" && !errors.Is(err, loaderr.ErrKilled) ||
				kind == "EIO" &&
					(err == nil || !strings.Contains(err.Error(), syscall.EIO.Error())) {
				t.Errorf("%s at %s: %v", kind, point, err)
			}
		}
	}
}

func TestFullDiskDuringAPutIsANoSpaceError(t *testing.T) {
	p, sent := puttest.EveryArray(t)
	stream := put.Header{Format: put.FormatArrow}
	for _, point := range append(faultPoints, "reserve#2") {
		t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
		for _, c := range []struct {
			put.Header
			sent []byte
		}{{p, sent}, {stream, puttest.ArrowBytes(t)}} {
			if c.Format == put.FormatArrow && point == "reserve#2" {
				continue // this put needs no scratch file
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = bytes.NewReader(c.sent).WriteTo(w); w.Close() }()
			o := option.Options{ItemID: []string{"id"}}
			if c.Format == put.FormatArrow {
				o.ItemID = []string{"id", "w"}
			}
			if _, err := Run(t.Context(), os.Args[0],
				Job{Dir: t.TempDir(), Options: o, Put: &c.Header}, r, nil); !errors.Is(
				err, loaderr.ErrNoSpace) {
				t.Errorf("%s at %s: %v", c.Format, point, err)
			}
			r.Close()
		}
	}
}

func TestFaultsDuringDecompressionAreReported(t *testing.T) {
	path := loadtest.File(t, "x.csv.gz", loadtest.Compressed(t, ".gz", "a\n1\n2.5\n"))
	for kind, want := range map[string]error{"ENOSPC": loaderr.ErrNoSpace,
		"KILL": loaderr.ErrKilled} {
		t.Setenv("TENSORCACHE_FAULT", kind+"@ingest.unpack")
		if _, err := Run(t.Context(), os.Args[0],
			job(t, option.Options{Sources: []string{path}}), nil, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestFaultsDuringAnAppendLeaveNoManifest(t *testing.T) {
	old := loadInProcess(t, option.Options{
		Sources: []string{loadtest.File(t, "a.csv", "i,t,a\nx,1,1\ny,2,2.5\n")},
		ItemID:  []string{"i"}, Time: "t", Scale: option.All("standard"), Sort: true,
	})
	o, err := load.AppendOptions(old.Manifest,
		[]string{loadtest.File(t, "b.csv", "i,t,a\ny,4,2\nx,3,1\ny,3,3\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range append(faultPoints, "ingest.join", "create#4", "write#4", "reserve#4",
		"map#4", "manifest#2") {
		for kind, want := range map[string]error{"ENOSPC": loaderr.ErrNoSpace,
			"KILL": loaderr.ErrKilled} {
			t.Setenv("TENSORCACHE_FAULT", kind+"@"+point)
			j := Job{Dir: t.TempDir(), Options: o, Append: &load.Append{Dir: old.Dir}}
			_, err := Run(t.Context(), os.Args[0], j, nil, nil)
			var s *loaderr.NoSpaceError
			if !errors.Is(err, want) || kind == "ENOSPC" &&
				(!errors.As(err, &s) || s.Need <= 0 || s.Have <= 0) {
				t.Errorf("%s at %s: %v", kind, point, err)
			}
			if _, err := os.Stat(filepath.Join(j.Dir, "manifest.json")); err == nil {
				t.Errorf("%s at %s: a manifest was written", kind, point)
			}
		}
	}
	if err := old.Verify(); err != nil {
		t.Error(err)
	}
}

func TestFullDiskDuringALargeBatchReportsNeedAndHave(t *testing.T) {
	path := loadtest.File(t, "x.arrows", string(loadtest.BigArrowStream(t, 1)))
	for _, point := range []string{"reserve#2", "map#2"} { // the result uses reserve#1 and map#1
		t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
		j := job(t, option.Options{Sources: []string{path}})
		_, err := Run(t.Context(), os.Args[0], j, nil, nil)
		if s := (*loaderr.NoSpaceError)(nil); !errors.As(err, &s) || s.Need < 64<<20 ||
			s.Have <= 0 {
			t.Errorf("%s: %v", point, err)
		}
		if left, err := os.ReadDir(j.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v: %v", point, left, err)
		}
	}
}
