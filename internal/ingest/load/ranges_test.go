package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// garbage is the value of the bytes of a staged file that are not staged.
const garbage = 0xA5

// remoteURL is the folder of the remote files of these tests.
const remoteURL = "https://data.example.org/tables"

// stager stages files below a directory, as a client does.
type stager struct {
	t    rapid.TB
	from string // the folder of the remote files
	o    option.Options
}

// newStager stages nothing of the files below from into a folder below dir. The sources of o are
// below from.
func newStager(t rapid.TB, from, dir string, o option.Options) *stager {
	s := &stager{t, from, o}
	s.o.Sources = nil
	for _, source := range o.Sources {
		s.o.Sources = append(s.o.Sources, strings.Replace(source, from, dir, 1))
	}
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		etag, rel := `"1"`, strings.TrimPrefix(path, from)
		s.o.Origins = append(s.o.Origins, origin.File{Path: dir + rel, URL: remoteURL + rel,
			ETag: &etag, Size: info.Size(), Ranges: origin.Ranges{}})
		if err := os.MkdirAll(filepath.Dir(dir+rel), 0o700); err != nil {
			return err
		}
		return os.WriteFile(dir+rel, slices.Repeat([]byte{garbage}, int(info.Size())), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add stages ranges of a file.
func (s *stager) add(f *origin.File, ranges origin.Ranges) {
	b, err := os.ReadFile(s.from + strings.TrimPrefix(f.URL, remoteURL))
	if err != nil {
		s.t.Fatal(err)
	}
	to, err := os.OpenFile(f.Path, os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer to.Close()
	for _, r := range ranges {
		if _, err := to.WriteAt(b[r[0]:r[1]], r[0]); err != nil {
			s.t.Fatal(err)
		}
	}
	f.Ranges = origin.Join(slices.Concat(f.Ranges, ranges), 0)
}

// stage stages the bytes that Ranges lists, until none is missing.
func (s *stager) stage() error {
	for range 5 {
		missing, err := Ranges(Request{Options: s.o})
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, m := range missing {
			i := slices.IndexFunc(s.o.Origins, func(f origin.File) bool { return f.Path == m.Path })
			if i < 0 || len(m.Ranges) == 0 || len(m.Ranges.Without(s.o.Origins[i].Ranges)) == 0 {
				s.t.Fatalf("%+v is missing, but nothing of it", m)
			}
			s.add(&s.o.Origins[i], m.Ranges)
		}
	}
	s.t.Fatal("something is missing after five requests")
	return nil
}

// bytes returns how many bytes are staged.
func (s *stager) bytes() (n int64) {
	for _, f := range s.o.Origins {
		n += f.Ranges.Bytes()
	}
	return n
}

// generationOf loads in this process and returns the manifest as JSON, without what depends on the
// time of the load and on the places of the sources.
func generationOf(t rapid.TB, o option.Options) (string, *layout.Manifest, error) {
	out, err := os.MkdirTemp("", "out")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(out)
	m, err := Run(context.Background(), Request{Dir: out, Options: o}, &progress.Meter{})
	if err != nil {
		return "", nil, err
	}
	sources := m.Sources
	m.Created, m.XXH64, m.Sources = time.Time{}, "", nil
	b, jsonErr := json.Marshal(m)
	m.Sources = sources
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	return string(b), m, nil
}

// TestStagedRangesLoadLikeTheWholeFile stages every Parquet file of testdata range by range. The
// load must be that of the whole file, or have its error with the URL as the path.
func TestStagedRangesLoadLikeTheWholeFile(t *testing.T) {
	var paths []string
	err := filepath.WalkDir("../../../testdata", func(path string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 24 {
		t.Fatal(len(paths), err)
	}
	loaded := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			o := option.Options{Sources: []string{path}}
			want, _, wantErr := generationOf(t, o)
			s := newStager(t, filepath.Dir(path), t.TempDir(), o)
			s.o.Origins = slices.DeleteFunc(s.o.Origins, func(f origin.File) bool {
				return f.Path != s.o.Sources[0]
			})
			err = s.stage()
			got := ""
			var m *layout.Manifest
			if err == nil {
				got, m, err = generationOf(t, s.o)
			}
			if (err == nil) != (wantErr == nil) || got != want {
				t.Fatalf("got %v, %s\nwant %v, %s", err, got, wantErr, want)
			}
			url := s.o.Origins[0].URL
			if err != nil {
				if text := strings.ReplaceAll(wantErr.Error(), path, url); err.Error() != text {
					t.Fatalf("got  %v\nwant %s", err, text)
				}
				return
			}
			loaded++
			if x := m.Sources[0]; x.Path != url || x.Inode != 0 || x.MtimeNs != 0 ||
				x.Origin.URL != url || *x.Origin.ETag != `"1"` || x.Bytes != x.Origin.Size {
				t.Errorf("%+v", x)
			}
		})
	}
	if loaded < 20 {
		t.Errorf("%d of %d files were loaded", loaded, len(paths))
	}
}

// TestStagedRowGroupsLoadLikeTheWholeFiles stages random folders of Parquet files for random
// filters, partitions and melts.
func TestStagedRowGroupsLoadLikeTheWholeFiles(t *testing.T) {
	head, tail, gap := headBytes, tailBytes, gapBytes
	headBytes, tailBytes, gapBytes = 512, 8, 1 // so that less than a small file is read
	defer func() { headBytes, tailBytes, gapBytes = head, tail, gap }()
	partial, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "groups")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		from := filepath.Join(dir, "remote")
		if err := os.Mkdir(from, 0o700); err != nil {
			r.Fatal(err)
		}
		o := option.Options{Sources: []string{from}, Time: "t", Sort: true,
			Duplicates: option.DuplicatesFirst}
		partitioned := rapid.Bool().Draw(r, "partitioned")
		source := drawGroupedSource(t, r, from, partitioned)
		if !partitioned && rapid.IntRange(0, 3).Draw(r, "melt") == 0 {
			o.Melt, o.Columns = option.MeltColumns, []string{"x"}
		} else {
			columns := []string{"id", "site", "n"}
			if partitioned {
				columns = append(columns, "part")
			}
			o.ItemID = rapid.SliceOfNDistinct(rapid.SampledFrom(columns), 1, 2, rapid.ID).
				Draw(r, "item_id")
			drawFilters(t, r, &o, source)
			o.Columns = []string{"x"}
		}
		want, _, wantErr := generationOf(t, o)
		s := newStager(t, from, filepath.Join(dir, "staged"), o)
		err = s.stage()
		got := ""
		if err == nil {
			got, _, err = generationOf(t, s.o)
		}
		if (err == nil) != (wantErr == nil) || got != want {
			r.Fatalf("%+v:\ngot %v, %s\nwant %v, %s", o, err, got, wantErr, want)
		}
		if err != nil {
			refused++
			if e := (*loaderr.SourceError)(nil); errors.As(err, &e) &&
				(strings.Contains(e.Reason, "not staged") || strings.Contains(e.Error(), dir)) {
				r.Fatal(err)
			}
		}
		var size int64
		for _, f := range s.o.Origins {
			size += f.Size
		}
		if s.bytes() < size {
			partial++
		}
	})
	if partial == 0 || refused == 0 {
		t.Errorf("%d loads read a part of the files, %d were refused", partial, refused)
	}
}

// TestAReadOfBytesThatAreNotStagedFailsTheLoad takes each byte range away from what a load needs.
func TestAReadOfBytesThatAreNotStagedFailsTheLoad(t *testing.T) {
	from := t.TempDir()
	b, err := os.ReadFile("../../../testdata/spark/snappy-v1.parquet")
	if err == nil {
		err = os.WriteFile(filepath.Join(from, "a.parquet"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newStager(t, from, t.TempDir(),
		option.Options{Sources: []string{filepath.Join(from, "a.parquet")}})
	if err := s.stage(); err != nil {
		t.Fatal(err)
	}
	want, _, err := generationOf(t, s.o)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	f := &s.o.Origins[0]
	whole := f.Ranges
	for at := int64(0); at < f.Size; at += max(1, f.Size/40) {
		f.Ranges = whole.Without(origin.Ranges{{at, at + 1}})
		got, _, err := generationOf(t, s.o)
		e := (*loaderr.SourceError)(nil)
		if err == nil && got == want { // the load does not read this byte
			continue
		}
		if refused++; !errors.As(err, &e) || e.Path != remoteURL+"/a.parquet" ||
			!strings.Contains(e.Reason, "which are not staged") {
			t.Errorf("without byte %d: %v", at, err)
		}
	}
	if refused < 20 {
		t.Errorf("%d loads were refused", refused)
	}
}

// TestStagedTimesAndSeriesLoadLikeTheWholeFile stages a Parquet file for a time in several columns
// and for rows that are melted.
func TestStagedTimesAndSeriesLoadLikeTheWholeFile(t *testing.T) {
	from := t.TempDir()
	path := filepath.Join(from, "a.parquet")
	var rows []loadtest.GroupedRow
	for i := range 300 {
		rows = append(rows, loadtest.NewGroupedRow(fmt.Sprint("s", i), 1, int64(i), uint32(1700+i),
			float64(i)))
	}
	loadtest.ParquetGroups(t, path, rows, 100)
	for name, o := range map[string]option.Options{
		"time":       {TimeParts: []string{"n"}, Columns: []string{"x"}},
		"time, melt": {TimeParts: []string{"n"}, Columns: []string{"x"}, Melt: option.MeltColumns},
		"rows":       {ItemID: []string{"id"}, Columns: []string{"x", "n"}, Melt: option.MeltRows},
	} {
		o.Sources = []string{path}
		s := newStager(t, from, t.TempDir(), o)
		if err := s.stage(); err != nil {
			t.Fatal(name, err)
		}
		got, _, err := generationOf(t, s.o)
		want, _, wantErr := generationOf(t, o)
		if got != want || err != nil || wantErr != nil {
			t.Errorf("%s: got %v, %s\nwant %v, %s", name, err, got, wantErr, want)
		}
	}
}

// TestOtherFormatsAreStagedWhole asks for a CSV file and for a compressed one.
func TestOtherFormatsAreStagedWhole(t *testing.T) {
	from := t.TempDir()
	text := "t,x\n" + strings.Repeat("1,2\n", 1000)
	for _, name := range []string{"a.csv", "b.npy", "c.arrow"} {
		path := filepath.Join(from, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newStager(t, from, t.TempDir(), option.Options{Sources: []string{path}})
		i := slices.IndexFunc(s.o.Origins, func(f origin.File) bool {
			return filepath.Base(f.Path) == name
		})
		s.o.Origins = s.o.Origins[i : i+1]
		if err := s.stage(); err != nil || s.bytes() != int64(len(text)) {
			t.Errorf("%s: %d bytes, %v", name, s.bytes(), err)
		}
	}
}

// TestSourcesNeedOrigins refuses staged files that no origin describes.
func TestSourcesNeedOrigins(t *testing.T) {
	from := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv"} {
		err := os.WriteFile(filepath.Join(from, name), []byte("x\n1\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	s := newStager(t, from, t.TempDir(), option.Options{Sources: []string{from}})
	all := s.o.Origins
	s.o.Origins = all[:1]
	for _, change := range []func(){func() {}, func() {
		s.o.Origins = slices.Clone(all)
		s.o.Origins[1].Size, s.o.Origins[1].Ranges = 5, nil
	}} {
		change()
		_, err := Ranges(Request{Options: s.o})
		_, _, loadErr := generationOf(t, s.o)
		e := (*loaderr.OptionError)(nil)
		if !errors.As(err, &e) || e.Field != "origins" || !strings.Contains(e.Allowed, all[1].Path) ||
			loadErr == nil || loadErr.Error() != err.Error() {
			t.Errorf("%v, %v", err, loadErr)
		}
	}
}
