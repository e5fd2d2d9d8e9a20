package ingest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/load"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
)

func TestAnAppendInAChildSkipsLoadedFiles(t *testing.T) {
	a, b := loadtest.File(t, "a.csv", "t,v\n1,1\n"), loadtest.File(t, "b.csv", "t,v\n2,5\n3,6\n")
	old := loadInProcess(t, option.Options{Sources: []string{a}, Time: "t"})
	o, err := load.AppendOptions(old.Manifest, []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Dir: t.TempDir(), Options: o, Append: &load.Append{Dir: old.Dir, Skip: []string{a}}}
	var last progress.Progress
	m, err := Run(t.Context(), os.Args[0], j, nil, func(p progress.Progress) {
		if p.Share < last.Share {
			t.Errorf("%v comes after %v", p, last)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if l := loadtest.OpenDir(t, j.Dir); !slices.Equal(loadtest.Values[int64](l, "v"),
		[]int64{1, 5, 6}) ||
		m.Rows != 3 || last.Phase != progress.Finish {
		t.Errorf("%v of %+v", loadtest.Values[int64](l, "v"), m)
	}
}

// TestDamagedArrowFilesEndOnlyTheLoad changes bytes of Arrow files and loads them in a child, as
// the daemon does. The format has no checksums, so values may differ, but an error must name the
// file, and the child must not crash this process.
func TestDamagedArrowFilesEndOnlyTheLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 60
	if raceEnabled || testing.Short() {
		n = 20
	}
	for _, options := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
		file, stream := puttest.ArrowFileBytes(t, options...)
		for i := range n {
			b := slices.Clone([][]byte{file, stream}[i%2])
			for range 1 + rng.IntN(4) {
				b[rng.IntN(len(b))] = byte(rng.Uint32())
			}
			path := loadtest.File(t, "x.arrow", string(b))
			_, err := Run(t.Context(), os.Args[0],
				job(t, option.Options{Sources: []string{path}, ItemID: []string{"id", "w"}}), nil,
				nil)
			if err != nil && !strings.Contains(err.Error(), path) &&
				!errors.Is(err, loaderr.ErrOption) && !errors.Is(err, loaderr.ErrMemory) {
				t.Errorf("mutant %d: the message does not name the file: %v", i, err)
			}
		}
	}
}

func TestTheMemoryLimitIsAtMostTheAvailableMemory(t *testing.T) {
	small := Job{Options: option.Options{Sources: []string{loadtest.File(t, "a.csv", "a\n1\n")}}}
	stream := Job{Put: &put.Header{Format: put.FormatArrow}}
	for _, c := range []struct {
		Job
		available, want int64
	}{
		{small, 1 << 40, baseMemory + 4*4}, {small, 200 << 20, 200 << 20},
		{stream, 1 << 40, maxMemory}, {stream, 1 << 30, 1 << 30},
	} {
		if got, err := memoryLimit(c.Job, c.available); got != c.want || err != nil {
			t.Errorf("with %d bytes available, the limit is %d, %v, want %d", c.available, got,
				err, c.want)
		}
	}
	small.MemoryLimit = 200 << 20
	if err := withMemoryHint(small, loaderr.ErrMemory); !errors.Is(err, loaderr.ErrMemory) ||
		!strings.Contains(err.(*loaderr.MemoryError).Hint, "fewer columns") {
		t.Errorf("%#v", err)
	}
	small.MemoryLimit = baseMemory + 4*4
	if err := withMemoryHint(small, loaderr.ErrMemory); strings.Contains(
		err.(*loaderr.MemoryError).Hint, "fewer columns") {
		t.Errorf("%#v", err)
	}
	_, err := memoryLimit(small, 50<<20)
	if !errors.Is(err, loaderr.ErrMemory) ||
		!strings.Contains(err.Error(), "need 128 MiB, have 50 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestErrorsWithLongNamesAreShort loads files with a column name of a MiB, which the daemon would
// store with the error.
func TestErrorsWithLongNamesAreShort(t *testing.T) {
	name := strings.Repeat("ä", 1<<19)
	for _, path := range []string{
		loadtest.File(t, "x.jsonl", `{"`+name+`":[]}`),
		loadtest.File(t, "x.csv", name+"\n1\nx\n"),
	} {
		_, err := Run(t.Context(), os.Args[0], job(t, option.Options{Sources: []string{path}}), nil,
			nil)
		var refused *loaderr.SourceError
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Column, "ää") ||
			!strings.HasSuffix(refused.Column, "ä…") ||
			len(err.Error())+len(refused.Hint) > 6*maxErrorText {
			t.Errorf("%s: %d bytes, %.200s", path, len(err.Error()), err.Error())
		}
	}
}

// TestAPutIsLoadedFromASocket sends all values of a put to a child over a socket, and then all but
// the last 20 bytes.
func TestAPutIsLoadedFromASocket(t *testing.T) {
	p, sent := puttest.EveryArray(t)
	for _, cut := range []int{0, 20} {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		client := os.NewFile(uintptr(fds[0]), "client")
		server := os.NewFile(uintptr(fds[1]), "server")
		if _, err := client.Write(sent[:len(sent)-cut]); err != nil {
			t.Fatal(err)
		}
		if cut > 0 {
			client.Close()
		}
		dir := t.TempDir()
		m, err := Run(t.Context(), os.Args[0],
			Job{Dir: dir, Options: option.Options{ItemID: []string{"id"}}, Put: &p}, server, nil)
		server.Close()
		client.Close()
		if cut > 0 {
			loadtest.Refused(t, err, "the connection ended after", "")
			continue
		}
		if err != nil || m.Rows != 3 {
			t.Fatal(m, err)
		}
		puttest.CheckValues(t, loadtest.OpenDir(t, dir))
	}
}

// TestLimitedLoadsReadOnlyBelowTheirRoots stats and loads paths inside and outside of allowed
// roots: with "..", with symbolic links, and with files that do not exist.
func TestLimitedLoadsReadOnlyBelowTheirRoots(t *testing.T) {
	root, outside := loadtest.RootAndOutside(t)
	const notAllowed = "is outside the folders that other users and TCP clients may load from"
	for path, want := range map[string]string{
		"a.csv": "", "in/b.csv": "", "in": "", "near.csv": "", "inside/b.csv": "",
		"in/../a.csv": "", "./a.csv": "", "hive/k=1": "",
		"none.csv": "no such file", "pipe.csv": "is a pipe", "a.csv/x": "not a directory",
		"../rooted/secret.csv": notAllowed, "../rooted/none.csv": notAllowed, "..": notAllowed,
		"../..": notAllowed, "in/../../rooted/secret.csv": notAllowed,
		"out.csv": notAllowed, "twice.csv": notAllowed, "absolute.csv": notAllowed,
		"outside":            notAllowed,
		"outside/secret.csv": notAllowed, "hive": notAllowed,
	} {
		for _, o := range []option.Options{
			{
				Sources: []string{root + "/" + path},
				AllowedRoots: files.AllowedRoots{Limited: true,
					Roots: []string{filepath.Join(root, "in"), root}},
			},
			{
				Sources:      []string{root + "/" + path},
				AllowedRoots: files.AllowedRoots{Limited: true, Roots: []string{root + "/"}},
				HashSources:  true,
			},
		} {
			_, err := o.AllowedRoots.Stat(o.Sources)
			_, err2 := (Job{Dir: t.TempDir(), Options: o}).load(t.Context(), nil, &progress.Meter{})
			_, err3 := Run(t.Context(), os.Args[0], job(t, o), nil, nil)
			for _, err := range []error{err, err2, err3} {
				var source *loaderr.SourceError
				switch {
				case want == "" && err != nil:
					t.Errorf("%s: %v", path, err)
				case want == "":
				case !errors.As(err, &source) || !strings.Contains(err.Error(), want) ||
					source.NotAllowed != (want == notAllowed) ||
					source.NotAllowed != strings.Contains(source.Hint, "as a root"):
					t.Errorf("%s: got %v, want %q", path, err, want)
				}
			}
		}
	}
	for name, r := range map[string]files.AllowedRoots{
		"no root": {Limited: true},
		"root that does not exist": {Limited: true,
			Roots: []string{filepath.Join(outside, "none")}},
	} {
		if _, err := r.Stat([]string{filepath.Join(outside, "secret.csv")}); !errors.Is(err,
			loaderr.ErrSource) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (files.AllowedRoots{Limited: true, Roots: []string{"/"}}).Stat(
		[]string{filepath.Join(root, "out.csv")}); err != nil {
		t.Errorf("everything is below /: %v", err)
	}
}

// TestMemoryOfWideFeaturesIsNotBuffered loads a TFRecord file in which a buffer for each feature
// and worker would take a GiB, more than the limit of the child.
func TestMemoryOfWideFeaturesIsNotBuffered(t *testing.T) {
	if raceEnabled || cgoEnabled {
		t.Skip("the limit is that of releases: CGO_ENABLED=0, without the race detector; make test-go runs it so")
	}
	features := map[string]any{}
	for i := range 256 {
		features[fmt.Sprint("f", i)] = make([]float32, 16<<10)
	}
	record := loadtest.Example(false, features)
	j := job(t, option.Options{Sources: []string{
		loadtest.File(t, "x.tfrecord", loadtest.TFRecords(record, record, record, record))}})
	limit, err := memoryLimit(j, maxMemory)
	if err != nil {
		t.Fatal(err)
	}
	j.MemoryLimit = limit
	if _, err := Run(t.Context(), os.Args[0], j, nil, nil); err != nil {
		t.Error(err)
	}
}
