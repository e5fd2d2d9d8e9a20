package tensorcache_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tensorcache/tensorcache/"

// allowed lists every package after the packages that it may import, with the reason for its place.
var allowed = map[string][]string{
	// arithmetic: it opens nothing and is tested without a daemon
	"window":            nil,
	"sampler":           nil, // arithmetic: it has its own interface of an index
	"internal/fault":    nil, // every package that can fail uses it
	"internal/portable": nil, // one environment variable
	"internal/calendar": nil, // arithmetic on times
	"internal/near":     nil, // arithmetic on names, for messages
	"internal/golden":   nil, // imported by tests only
	"internal/testlog":  nil, // imported by tests only
	"internal/testseed": nil, // imported by tests only
	"internal/testwait": nil, // imported by tests only
	// queries the system; packages that allocate memory use it
	"internal/machine":   nil,
	"internal/arrowmeta": nil, // validates bytes before anything reads them
	"internal/pagecache": {"internal/portable"},
	"internal/mmapfile": {"internal/pagecache", "internal/fault",
		"internal/portable"},
	// arithmetic on text: parses rows of plain numbers
	"internal/numerals": {"internal/portable"},
	// arithmetic on blocks of values, for statistics and for scaling
	"internal/moments": {"internal/portable"},
	// Arrow files of one record batch, without the meaning of columns
	"internal/arrowfile": {"internal/arrowmeta", "internal/fault"},
	// the generation format; it does not know where values come from
	"layout": {"internal/arrowfile", "internal/mmapfile", "internal/fault", "internal/moments"},
	// the database of time zones
	"internal/timezone": {"window"},
	// the catalogue of generations; it does not load
	"store": {"layout", "internal/machine", "internal/mmapfile", "internal/fault", "internal/near"},
	// error types that every package of a load returns
	"internal/ingest/loaderr": {"internal/near"},
	// what requests say about staged files; it opens none
	"internal/origin": {"internal/ingest/loaderr", "layout"},
	// runs workers; it does not know their work
	"internal/ingest/parallel": {"internal/ingest/loaderr", "internal/mmapfile"},
	// encodings of text; it knows no files
	"internal/ingest/charset": {"internal/ingest/loaderr"},
	// source files before a format is known
	"internal/ingest/files": {"internal/fault", "internal/ingest/charset",
		"internal/ingest/loaderr",
		"internal/ingest/parallel", "internal/machine", "internal/origin", "internal/pagecache",
		"layout"},
	// parses cells of text
	"internal/ingest/textvalue": {"internal/ingest/loaderr", "layout"},
	// columns of sources, and conversion to dtypes
	"internal/ingest/column": {"internal/ingest/loaderr", "internal/ingest/textvalue",
		"internal/numerals", "layout"},
	// options as users write them; it reads no source
	"internal/ingest/option": {"internal/calendar", "internal/ingest/charset",
		"internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/textvalue",
		"internal/near", "internal/origin", "internal/timezone", "layout", "window"},
	// counters that the daemon polls
	"internal/ingest/progress": nil,
	// what a load stores, and its options; it knows no files
	"internal/ingest/note": {"internal/ingest/charset", "internal/ingest/column", "internal/ingest/loaderr",
		"internal/ingest/option", "internal/ingest/parallel", "internal/ingest/textvalue",
		"layout"},
	// order of rows; it knows columns and no files
	"internal/ingest/rows": {"internal/ingest/column", "internal/ingest/loaderr",
		"internal/ingest/option", "internal/ingest/parallel", "internal/near", "layout"},
	// the interface of readers; it does not know formats
	"internal/ingest/source": {"internal/ingest/column", "internal/ingest/files",
		"internal/ingest/loaderr", "internal/ingest/progress",
		"internal/ingest/textvalue", "internal/origin", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/arrow": {"internal/arrowmeta",
		"internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr",
		"internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source",
		"internal/ingest/textvalue", "internal/mmapfile", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/jsonl": {"internal/ingest/column", "internal/ingest/files",
		"internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress",
		"internal/ingest/source", "internal/ingest/source/lines", "internal/ingest/textvalue",
		"internal/numerals",
		"layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/put": {"internal/calendar", "internal/ingest/column", "internal/ingest/files",
		"internal/ingest/loaderr", "internal/ingest/progress", "internal/ingest/source",
		"internal/ingest/textvalue", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/numpy": {"internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel",
		"internal/ingest/progress", "internal/ingest/source",
		"internal/ingest/source/put", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/parquet": {"internal/arrowmeta",
		"internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr",
		"internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source",
		"internal/ingest/textvalue", "internal/origin", "layout"},
	// what readers of text share; it does not know how rows are written
	"internal/ingest/source/lines": {"internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel",
		"internal/ingest/progress", "internal/ingest/source", "internal/ingest/textvalue",
		"internal/numerals", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/text": {"internal/ingest/charset", "internal/ingest/column",
		"internal/ingest/files",
		"internal/ingest/loaderr", "internal/ingest/progress", "internal/ingest/source",
		"internal/ingest/source/lines", "internal/ingest/textvalue", "internal/numerals",
		"layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/tsf": {"internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/progress",
		"internal/ingest/source", "internal/ingest/source/lines", "internal/ingest/textvalue",
		"internal/numerals", "layout"},
	// one format; a reader does not know what is done to its columns
	"internal/ingest/source/tfrecord": {"internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel",
		"internal/ingest/progress", "internal/ingest/source", "layout"},
	// steps know columns and no files
	"internal/ingest/step": {"internal/ingest/column", "internal/ingest/loaderr",
		"internal/ingest/option", "internal/ingest/rows", "internal/moments", "layout"},
	// one load: the only package that knows both readers and steps
	"internal/ingest/load": {"internal/calendar", "internal/fault",
		"internal/ingest/charset", "internal/ingest/column",
		"internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/note",
		"internal/ingest/option", "internal/ingest/parallel", "internal/ingest/progress",
		"internal/ingest/rows", "internal/ingest/source", "internal/ingest/source/arrow",
		"internal/ingest/source/jsonl", "internal/ingest/source/numpy",
		"internal/ingest/source/parquet", "internal/ingest/source/put",
		"internal/ingest/source/text", "internal/ingest/source/tfrecord",
		"internal/ingest/source/tsf", "internal/ingest/step",
		"internal/ingest/textvalue", "internal/mmapfile", "internal/near", "internal/origin",
		"internal/timezone", "layout"},
	// runs in a child process, which must not use the catalogue
	"internal/ingest": {"internal/ingest/files", "internal/ingest/load", "internal/ingest/loaderr",
		"internal/ingest/option", "internal/ingest/progress", "internal/ingest/source/put",
		"internal/ingest/step", "internal/machine", "internal/mmapfile", "internal/origin",
		"layout"},
	// files for tests
	"internal/ingest/loadtest": {"internal/ingest/loaderr", "layout"},
	// connections for tests
	"internal/ingest/source/put/puttest": {"internal/ingest/loadtest",
		"internal/ingest/source/put"},
	// only the types of requests and messages
	"internal/wire": {"layout", "window", "sampler", "internal/near", "internal/origin"},
	// copies bytes of columns; the daemon and the Go client share it
	"internal/bitset": {},
	"internal/gather": {"internal/bitset", "internal/calendar", "internal/portable", "internal/timezone",
		"layout"},
	// which windows of a generation exist, and what they deliver; it copies nothing
	"internal/plan": {"store", "layout", "window", "sampler", "internal/bitset", "internal/calendar",
		"internal/timezone", "internal/wire", "internal/near"},
	// batches in memory; it does not know who reads them
	"internal/batch": {"internal/gather", "internal/plan", "internal/wire", "layout", "sampler",
		"window"},
	// errors of the packages below as clients see them
	"internal/problem": {"store", "layout", "window", "sampler", "internal/mmapfile",
		"internal/wire"},
	// processes at the other end of a socket
	"internal/peer": {"internal/portable", "internal/wire"},
	// shares the cores among feeds; it knows no socket
	"internal/feed/workers": {"internal/batch", "internal/mmapfile", "sampler"},
	// frames and the queue of one client; it does not know what a batch is
	"internal/feed/transport": {"internal/portable", "internal/wire"},
	// pages of a file; it does not know who reads them
	"internal/feed/prefetch": {"internal/plan", "sampler", "window"},
	// serves windows; it does not load
	"internal/feed": {"store", "layout", "sampler", "internal/batch", "internal/feed/prefetch",
		"internal/feed/transport", "internal/feed/workers", "internal/mmapfile", "internal/peer",
		"internal/plan", "internal/problem", "internal/wire", "internal/portable"},
	// imported by tests only
	"internal/storetest": {"store", "layout"},
	// a client: it must not contain the daemon
	"internal/control": {"internal/wire"},
	// copies remote files for a load; it does not know the daemon
	"internal/remote": {"internal/machine", "internal/origin", "internal/wire"},
	// A client too: it finds the daemon as the command line does, maps files with the package that
	// maps them, and has the types of columns, specs and cursors in its public names.
	"clients/go": {"layout", "window", "sampler", "internal/calendar", "internal/control", "internal/gather",
		"internal/mmapfile", "internal/wire", "internal/near"},
	// a user's program: it imports public packages only
	"examples/nlinear_go": {"clients/go", "window"},
	// runs loads and publishes what they make; it does not know requests
	"internal/jobs": {"store", "layout", "window", "internal/ingest", "internal/mmapfile", "internal/near",
		"internal/origin", "internal/plan", "internal/problem", "internal/wire"},
	// the control API starts jobs and feeds
	"api": {"store", "layout", "window", "sampler", "internal/batch", "internal/feed",
		"internal/ingest", "internal/jobs", "internal/machine", "internal/mmapfile",
		"internal/peer", "internal/plan", "internal/problem", "internal/wire"},
	// the binary
	"cmd/tensorcache": {"api", "store", "layout", "window", "sampler", "clients/go",
		"internal/feed", "internal/ingest", "internal/jobs", "internal/machine", "internal/wire",
		"internal/control", "internal/near", "internal/origin", "internal/remote"},
}

// libraries lists the packages that may import a library, besides tests.
var libraries = []struct {
	prefix string
	users  []string
	reason string
}{
	{"github.com/valyala/fasthttp", []string{"api"}, "HTTP ends at the control API"},
	{"github.com/edsrzf/mmap-go", []string{"internal/mmapfile"},
		"one package maps files, and knows when they may be unmapped"},
	{"github.com/apache/arrow/", []string{"internal/arrowfile", "internal/ingest/loadtest",
		"internal/ingest/source/arrow", "internal/ingest/source/put/puttest", "layout"},
		"for other packages a column is bytes at an offset"},
	{"github.com/parquet-go/",
		[]string{"internal/ingest/loadtest", "internal/ingest/source/parquet"},
		"only the child process reads sources"},
	{"github.com/prometheus/", []string{"api"}, "metrics are served by the control API"},
	{"github.com/spf13/", []string{"cmd/tensorcache"}, "only the command line has flags"},
}

// pkg is a package as go list prints it.
type pkg struct {
	ImportPath, Dir, Doc, Name string
	Imports                    []string
	GoFiles                    []string
}

// path returns the import path within the module.
func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, module) }

// packages returns all packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Name,Imports,GoFiles",
		"./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 && strings.HasPrefix(p.ImportPath, module) {
			list = append(list, p)
		}
	}
	if len(list) < len(allowed) {
		t.Fatalf("only %d packages were found", len(list))
	}
	return list
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, p := range packages(t) {
		may, known := allowed[p.path()]
		if !known {
			t.Errorf("%s is not in the list of allowed imports", p.path())
		}
		for _, i := range p.Imports {
			if r, ours := strings.CutPrefix(i, module); ours && !slices.Contains(may, r) {
				t.Errorf("%s imports %s, which is not allowed", p.path(), r)
			}
		}
	}
}

func TestAllowedImportsHaveNoCycle(t *testing.T) {
	var visit func(name string, from []string)
	visit = func(name string, from []string) {
		if slices.Contains(from, name) {
			t.Fatalf("%v leads back to %s", from, name)
		}
		for _, imported := range allowed[name] {
			visit(imported, append(from, name))
		}
	}
	for name := range allowed {
		visit(name, nil)
	}
}

// TestArchitecturePageListsEveryPackage compares the table of docs/ARCHITECTURE.md with allowed.
func TestArchitecturePageListsEveryPackage(t *testing.T) {
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, name := range strings.Split(strings.TrimPrefix(cells[0], "| "), ", ") {
			listed[strings.Trim(name, "`")] = true
		}
	}
	for name := range allowed {
		if !listed[name] && !strings.HasPrefix(name, "examples/") {
			t.Errorf("the page does not list %s", name)
		}
	}
}

// Readers know files and columns, steps and the order of rows know columns, and only package load
// knows both.
func TestReadersAndStepsDoNotKnowEachOther(t *testing.T) {
	const ingest = "internal/ingest/"
	readers := func(name string) bool {
		return strings.HasPrefix(name+"/", ingest+"source/") || name == ingest+"files"
	}
	steps := []string{ingest + "step", ingest + "rows"}
	for name, imports := range allowed {
		for _, i := range imports {
			if readers(name) && (slices.Contains(steps, i) || i == ingest+"option") {
				t.Errorf("%s may import %s: a reader does not know what is done to its columns",
					name, i)
			}
			if slices.Contains(steps, name) && readers(i) {
				t.Errorf("%s may import %s: a step does not know where its values come from", name,
					i)
			}
		}
	}
}

func TestLibrariesAreImportedByTheirUsersOnly(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			for _, l := range libraries {
				if strings.HasPrefix(i, l.prefix) && !slices.Contains(l.users, p.path()) {
					t.Errorf("%s imports %s, which only %v may: %s", p.path(), i, l.users, l.reason)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = "Command " + filepath.Base(p.path()) + " "
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("%s: its comment begins %q, want %q", p.path(), p.Doc, want)
		}
	}
}
