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
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// job returns a job with the options and a new empty directory.
func job(t *testing.T, o option.Options) Job {
	t.Helper()
	return Job{Dir: t.TempDir(), Options: o}
}

// bigCSV writes a CSV file of the given size and returns its path.
func bigCSV(t *testing.T, megabytes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "big.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var block bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&block, "%d.25,%d.123456,-%de-3,%d\n", i, i, i, i)
	}
	if _, err := f.WriteString("a,b,c,d\n"); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < megabytes<<20; n += block.Len() {
		if _, err := f.Write(block.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestRunLoadsETTh1(t *testing.T) {
	path, err := filepath.Abs("../../examples/data/ETTh1.csv")
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	j := job(t, option.Options{Sources: []string{path}, Time: "date"})
	m, err := Run(t.Context(), os.Args[0], j, nil,
		func(p progress.Progress) { phases = append(phases, p.Phase) })
	if err != nil {
		t.Fatal(err)
	}
	if m.Rows != 17420 || len(m.Columns) != 8 {
		t.Errorf("%d rows of %d columns, want 17420 of 8", m.Rows, len(m.Columns))
	}
	if len(phases) == 0 || phases[len(phases)-1] != progress.Finish {
		t.Errorf("progress reported the phases %v", phases)
	}
	l := loadtest.OpenDir(t, j.Dir)
	if v := loadtest.Values[float64](l, "OT"); v[0] != 30.5310001373291 {
		t.Errorf("OT begins with %v", v[0])
	}
	if v := loadtest.Values[int64](l, "date"); v[1]-v[0] != 3600 {
		t.Errorf("date begins with %v", v[:2])
	}
	if err := l.Verify(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfAChildKeepTheirFields(t *testing.T) {
	_, err := Run(t.Context(), os.Args[0],
		job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\nx\n")}}), nil, nil)
	var s *loaderr.SourceError
	if !errors.Is(err, loaderr.ErrSource) || !errors.As(err, &s) ||
		s.Row != 2 || s.Line != 3 || s.Column != "a" || s.Text != "x" || s.Hint == "" {
		t.Errorf("%v is %+v", err, s)
	}
	_, err = Run(t.Context(), os.Args[0],
		job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\n")},
			Columns: []string{"b"}}), nil, nil)
	var o *loaderr.OptionError
	if !errors.Is(err, loaderr.ErrOption) || !errors.As(err, &o) || !o.Column || o.Value != "b" {
		t.Errorf("%v is %+v", err, o)
	}
	for _, e := range []error{
		&loaderr.NoSpaceError{Dir: "/x", Need: 10, Have: 2, Text: "reserve"},
		fmt.Errorf("write: %w", syscall.ENOSPC),
	} {
		b, _ := json.Marshal(toProblem(e))
		var p problem
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(p.error(), loaderr.ErrNoSpace) || !errors.Is(p.error(), syscall.ENOSPC) {
			t.Errorf("%v became %v", e, p.error())
		}
	}
	if p := toProblem(fmt.Errorf("x: %w", syscall.ENOMEM)); !errors.Is(p.error(),
		loaderr.ErrMemory) {
		t.Errorf("ENOMEM became %v", p.error())
	}
}

// children returns the process ids of this process's children.
func children(t *testing.T) (pids []int) {
	t.Helper()
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			var pid int
			fmt.Sscan(f, &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestInvalidJobsAreRefused(t *testing.T) {
	var out bytes.Buffer
	if code := Main(strings.NewReader("{}"), &out); code != 1 ||
		!strings.Contains(out.String(), "read the job") {
		t.Errorf("code %d, %s", code, out.String())
	}
	if _, err := Run(t.Context(), "/no/such/program", job(t, option.Options{}), nil,
		nil); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, err := Run(t.Context(), os.Args[0], Job{}, nil, nil); err == nil ||
		!strings.Contains(err.Error(), "sources: want at least one file") {
		t.Errorf("a job without sources: %v", err)
	}
}

func TestMemoryLimitEndsTheLoadOnly(t *testing.T) {
	if raceEnabled || cgoEnabled {
		t.Skip("the limit is that of a release: CGO_ENABLED=0, no race detector (make test-go)")
	}
	small := job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "i,a\nx,1\n")},
		ItemID: []string{"i"}})
	small.MemoryLimit = minMemory
	if _, err := Run(t.Context(), os.Args[0], small, nil, nil); err != nil {
		t.Errorf("the least memory is not enough: %v", err)
	}
	// The reader stores all distinct item names in memory. Here they need several times the limit.
	var b strings.Builder
	b.WriteString("i,a\n")
	for i := range 2_000_000 {
		fmt.Fprintf(&b, "a rather long name of item number %d,1\n", i)
	}
	j := job(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", b.String())},
		ItemID: []string{"i"}})
	j.MemoryLimit = minMemory
	_, err := Run(t.Context(), os.Args[0], j, nil, nil)
	if !errors.Is(err, loaderr.ErrMemory) ||
		!strings.HasPrefix(err.Error(), j.Sources[0]+": load ran out of memory: ") {
		t.Errorf("%v, want ErrMemory, with the source", err)
	}
}

// TestAnonymousMemoryStaysSmall scales the columns of a file of 200 MiB, and filters, sorts, merges
// and inserts the rows of a file of 60 MiB.
func TestAnonymousMemoryStaysSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector uses additional memory")
	}
	scaled := option.Options{Sources: []string{bigCSV(t, 200)}, Scale: option.All("standard")}
	rearranged := option.Options{
		Sources: []string{bigCSV(t, 60)}, Time: "d", Sort: true,
		Duplicates: option.DuplicatesMean, MaxDuplicates: new(float64), Regrid: json.RawMessage("1"),
	}
	*rearranged.MaxDuplicates = 1
	rearranged.Where = &option.Where{Time: []json.RawMessage{json.RawMessage("10"),
		json.RawMessage("null")}}
	for name, o := range map[string]option.Options{"scaled": scaled, "rearranged": rearranged} {
		t.Run(name, func(t *testing.T) { checkAnonymousMemory(t, o) })
	}
}

// checkAnonymousMemory fails the test if the child of a load with two workers uses more than 64 MiB
// of anonymous memory.
func checkAnonymousMemory(t *testing.T, o option.Options) {
	t.Setenv("GOMAXPROCS", "2")
	var most int64
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				for _, pid := range children(t) {
					most = max(most, anonymousBytes(pid))
				}
			}
		}
	}()
	_, err := Run(t.Context(), os.Args[0], job(t, o), nil, nil)
	close(done)
	<-watched
	if err != nil {
		t.Fatal(err)
	}
	if most == 0 {
		t.Skip("/proc has no memory statistics")
	}
	if t.Logf("%d MiB", most>>20); most > 64<<20 {
		t.Errorf("the child used %d bytes of anonymous memory, want at most 64 MiB", most)
	}
}

// anonymousBytes returns the anonymous memory of a child. Before exec, the child shares the memory
// of this process, and the result is 0.
func anonymousBytes(pid int) (bytes int64) {
	if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !strings.HasSuffix(
		string(args), "\x00"+Verb+"\x00") {
		return 0
	}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			fmt.Sscan(rest, &bytes)
		}
	}
	return bytes << 10
}
