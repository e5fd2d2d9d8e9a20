package tensorcache_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tensorcache/tensorcache/"

// rooms lists the packages from the ground up and what each may import of the others: one way, no way back.
var rooms = map[string][]string{
	"window":                             nil, // arithmetic: it opens nothing, so it is tested without a daemon
	"sampler":                            nil, // arithmetic; it sees an index through an interface of its own
	"internal/fault":                     nil, // stands below whatever may fail
	"internal/portable":                  nil, // one variable of the environment
	"internal/near":                      nil, // arithmetic on names, for messages
	"internal/golden":                    nil, // imported by tests only
	"internal/machine":                   nil, // asks the system; whoever takes memory stands above
	"internal/arrowmeta":                 nil, // arithmetic on bytes: they are held against a format before anything reads them
	"internal/cached":                    {"internal/portable"},
	"internal/mmapfile":                  {"internal/cached", "internal/fault", "internal/portable"},
	"internal/numerals":                  {"internal/portable"},                    // arithmetic on text: rows of plain numbers
	"internal/moments":                   {"internal/portable"},                    // arithmetic on blocks of values, for statistics and scalings alike
	"internal/arrowfile":                 {"internal/arrowmeta", "internal/fault"}, // files of one record batch, whatever their columns are for
	"layout":                             {"internal/arrowfile", "internal/mmapfile", "internal/fault", "internal/moments"},
	"store":                              {"layout", "internal/machine", "internal/mmapfile", "internal/fault", "internal/near"},
	"internal/ingest/loaderr":            nil,
	"internal/ingest/parallel":           {"internal/ingest/loaderr", "internal/mmapfile"},
	"internal/ingest/files":              {"internal/fault", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/machine", "layout"},
	"internal/ingest/calendar":           {"internal/ingest/loaderr", "internal/ingest/parallel", "layout"},
	"internal/ingest/textvalue":          {"internal/ingest/loaderr", "layout"},
	"internal/ingest/column":             {"internal/ingest/loaderr", "internal/ingest/textvalue", "internal/numerals", "layout"},
	"internal/ingest/option":             {"internal/ingest/calendar", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/textvalue", "internal/near", "layout", "window"},
	"internal/ingest/progress":           nil,
	"internal/ingest/rows":               {"internal/ingest/column", "internal/ingest/loaderr", "internal/ingest/option", "internal/ingest/parallel", "internal/near", "layout"},
	"internal/ingest/source":             {"internal/arrowmeta", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/progress", "internal/ingest/textvalue", "layout"},
	"internal/ingest/source/arrow":       {"internal/arrowmeta", "internal/cached", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source", "internal/ingest/textvalue", "internal/mmapfile", "layout"},
	"internal/ingest/source/put":         {"internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/progress", "internal/ingest/source", "internal/ingest/textvalue", "layout"},
	"internal/ingest/source/numpy":       {"internal/cached", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source", "internal/ingest/source/put", "layout"},
	"internal/ingest/source/parquet":     {"internal/arrowmeta", "internal/cached", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source", "internal/ingest/textvalue", "layout"},
	"internal/ingest/source/text":        {"internal/cached", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source", "internal/ingest/textvalue", "internal/numerals", "layout"},
	"internal/ingest/source/tfrecord":    {"internal/cached", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/source", "layout"},
	"internal/ingest/step":               {"internal/ingest/column", "internal/ingest/loaderr", "internal/ingest/option", "internal/ingest/rows", "internal/moments", "layout"},
	"internal/ingest/load":               {"internal/fault", "internal/ingest/calendar", "internal/ingest/column", "internal/ingest/files", "internal/ingest/loaderr", "internal/ingest/option", "internal/ingest/parallel", "internal/ingest/progress", "internal/ingest/rows", "internal/ingest/source", "internal/ingest/source/arrow", "internal/ingest/source/numpy", "internal/ingest/source/parquet", "internal/ingest/source/put", "internal/ingest/source/text", "internal/ingest/source/tfrecord", "internal/ingest/step", "internal/ingest/textvalue", "internal/mmapfile", "internal/near", "layout"},
	"internal/ingest":                    {"internal/ingest/files", "internal/ingest/load", "internal/ingest/loaderr", "internal/ingest/option", "internal/ingest/progress", "internal/ingest/source/put", "internal/machine", "internal/mmapfile", "layout"}, // a child process: it must not reach the catalogue; times and steps are spelled as in windows
	"internal/ingest/loadtest":           {"internal/ingest/loaderr", "layout"},
	"internal/ingest/source/put/puttest": {"internal/ingest/loadtest", "internal/ingest/source/put"},
	"internal/wire":                      {"layout", "window", "sampler", "internal/near"}, // only the types that pass over the sockets
	"internal/feed":                      {"store", "layout", "window", "sampler", "internal/mmapfile", "internal/wire", "internal/portable", "internal/near"},
	"internal/control":                   {"internal/wire"}, // a client: it must work without what the daemon is made of
	// a client too: it finds the daemon as the command line does, maps files through the one place that may, and sees columns, specs
	// and cursors as the types that stand in its own surface
	"clients/go":          {"layout", "window", "sampler", "internal/control", "internal/mmapfile", "internal/wire", "internal/near"},
	"examples/nlinear_go": {"clients/go", "window"}, // a user's program: public packages alone
	"api":                 {"store", "layout", "window", "sampler", "internal/feed", "internal/ingest", "internal/machine", "internal/wire"},
	"cmd/tensorcache":     {"api", "store", "layout", "window", "sampler", "clients/go", "internal/feed", "internal/ingest", "internal/machine", "internal/wire", "internal/control", "internal/near"},
}

// only says who may import what, beside its own tests.
var only = []struct {
	prefix string
	rooms  []string
	why    string
}{
	{"github.com/valyala/fasthttp", []string{"api"}, "HTTP ends at the control API"},
	{"github.com/edsrzf/mmap-go", []string{"internal/mmapfile"}, "one place maps files, and knows when they may be unmapped"},
	{"github.com/apache/arrow/", []string{"internal/arrowfile", "internal/ingest/loadtest", "internal/ingest/source/arrow", "internal/ingest/source/put/puttest", "layout"}, "behind the layout a column is bytes at an offset"},
	{"github.com/parquet-go/", []string{"internal/ingest/loadtest", "internal/ingest/source/parquet"}, "sources are read in the child process only"},
	{"github.com/prometheus/", []string{"api"}, "what is measured is told where it is asked for"},
	{"github.com/spf13/", []string{"cmd/tensorcache"}, "flags end at the command line"},
}

// pure rooms are arithmetic: equal arguments, equal answers.
var pure = map[string][]string{"window": {"os", "net", "sync", "syscall", "unsafe", "math/rand"}, "sampler": {"os", "net", "sync", "syscall", "unsafe", "math/rand", "time"}}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Doc, Name string
	Imports                    []string
	GoFiles                    []string
}

func (p pkg) room() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Name,Imports,GoFiles", "./...").Output()
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
	if len(list) < len(rooms) {
		t.Fatalf("only %d packages were found", len(list))
	}
	return list
}

func TestNothingBelowImportsWhatStandsAbove(t *testing.T) {
	for _, p := range packages(t) {
		may, known := rooms[p.room()]
		if !known {
			t.Errorf("%s has no place among the rooms", p.room())
		}
		for _, i := range p.Imports {
			if r, ours := strings.CutPrefix(i, module); ours && !slices.Contains(may, r) {
				t.Errorf("%s imports %s, which it may not", p.room(), r)
			}
		}
	}
}

func TestTheRoomsHaveNoWayBack(t *testing.T) {
	var visit func(room string, way []string)
	visit = func(room string, way []string) {
		if slices.Contains(way, room) {
			t.Fatalf("%v leads back to %s", way, room)
		}
		for _, below := range rooms[room] {
			visit(below, append(way, room))
		}
	}
	for room := range rooms {
		visit(room, nil)
	}
}

// TestThePageShowsTheRooms holds the table of docs/ARCHITECTURE.md to the directions above; "all" is whatever is there.
func TestThePageShowsTheRooms(t *testing.T) {
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{"examples/nlinear_go": true} // a user's program is no room of the house
	remark, name := regexp.MustCompile(`\(.*?\)`), regexp.MustCompile(`[a-z]+(/[a-z]+)*`)
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		imports := name.FindAllString(remark.ReplaceAllString(cells[2], ""), -1)
		for _, room := range strings.Split(strings.TrimPrefix(cells[0], "| "), ", ") {
			room = strings.Trim(room, "`")
			if may, is := rooms[room]; is && !slices.Equal(imports, []string{"all"}) && !slices.Equal(slices.Sorted(slices.Values(imports)), slices.Sorted(slices.Values(may))) {
				t.Errorf("the page has %s import %v, it may %v", room, imports, may)
			}
			shown[room] = true
		}
	}
	for room := range rooms {
		if !shown[room] {
			t.Errorf("the page does not show %s", room)
		}
	}
}

// TestReadersAndStepsDoNotKnowEachOther holds the border inside a load: readers know files and columns,
// steps and the order of rows know columns, and package load alone knows both.
func TestReadersAndStepsDoNotKnowEachOther(t *testing.T) {
	const ingest = "internal/ingest/"
	readers := func(room string) bool {
		return strings.HasPrefix(room+"/", ingest+"source/") || room == ingest+"files"
	}
	steps := []string{ingest + "step", ingest + "rows"}
	for room, imports := range rooms {
		for _, i := range imports {
			if readers(room) && (slices.Contains(steps, i) || i == ingest+"option") {
				t.Errorf("%s may import %s: a reader does not know what becomes of its columns", room, i)
			}
			if slices.Contains(steps, room) && readers(i) {
				t.Errorf("%s may import %s: a step does not know where its values come from", room, i)
			}
		}
	}
}

func TestEachLibraryIsUsedInItsRoomOnly(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			for _, o := range only {
				if strings.HasPrefix(i, o.prefix) && !slices.Contains(o.rooms, p.room()) {
					t.Errorf("%s imports %s, which only %v may: %s", p.room(), i, o.rooms, o.why)
				}
			}
		}
	}
}

func TestWindowAndSamplerAreArithmetic(t *testing.T) {
	for _, p := range packages(t) {
		for _, not := range pure[p.room()] {
			if slices.ContainsFunc(p.Imports, func(i string) bool { return i == not || strings.HasPrefix(i, not+"/") }) {
				t.Errorf("%s imports %s", p.room(), not)
			}
		}
		if pure[p.room()] == nil {
			continue
		}
		for _, name := range p.GoFiles {
			for _, call := range clockCalls(t, filepath.Join(p.Dir, name)) {
				t.Errorf("%s/%s calls %s: a window does not depend on when it is asked for", p.room(), name, call)
			}
		}
	}
}

// clockCalls are the calls in a file that ask the clock.
func clockCalls(t *testing.T, path string) (calls []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Tick", "Sleep"}, s.Sel.Name) {
				calls = append(calls, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = "Command " + filepath.Base(p.room()) + " "
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("%s: its comment begins %q, want %q", p.room(), p.Doc, want)
		}
	}
}

// TestAFileIsAboutOneThing holds files to a length that one sitting reads.
func TestAFileIsAboutOneThing(t *testing.T) {
	const most = 400
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(b, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, at most %d: it is about more than one thing", path, n, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
