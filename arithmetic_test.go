package tensorcache_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pure lists packages whose results depend on arguments only, and what they must not import.
var pure = map[string][]string{"window": {"os", "net", "sync", "syscall", "unsafe", "math/rand"},
	"sampler": {"os", "net", "sync", "syscall", "unsafe", "math/rand", "time"}}

func TestWindowAndSamplerAreArithmetic(t *testing.T) {
	for _, p := range packages(t) {
		for _, not := range pure[p.path()] {
			if slices.ContainsFunc(p.Imports, func(i string) bool {
				return i == not ||
					strings.HasPrefix(i, not+"/")
			}) {
				t.Errorf("%s imports %s", p.path(), not)
			}
		}
		if pure[p.path()] == nil {
			continue
		}
		for _, name := range p.GoFiles {
			for _, call := range clockCalls(t, filepath.Join(p.Dir, name)) {
				t.Errorf("%s/%s calls %s: a window does not depend on the time of the request",
					p.path(), name, call)
			}
		}
	}
}

// clockCalls returns the calls in a file that read the clock.
func clockCalls(t *testing.T, path string) (calls []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" &&
				slices.Contains([]string{"Now", "Since", "Until", "After", "Tick", "Sleep"},
					s.Sel.Name) {
				calls = append(calls, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

// TestPackagesWithoutTheRaceDetectorAreSequential checks the packages of make
// test-sequential, and their tests.
func TestPackagesWithoutTheRaceDetectorAreSequential(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(makefile), "\nSEQUENTIAL = ")
	line, _, _ = strings.Cut(line, "\n")
	names := strings.Fields(line)
	if len(names) == 0 {
		t.Fatal("the Makefile has no such packages")
	}
	for _, name := range names {
		if pure[strings.TrimPrefix(name, "./")] == nil {
			t.Errorf("%s is in SEQUENTIAL, but not in pure", name)
		}
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(name, err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports { // pure leaves out those of tests
				if i.Path.Value == `"sync"` {
					t.Errorf("%s imports sync", path)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if _, starts := n.(*ast.GoStmt); starts || ok &&
					slices.Contains([]string{"Go", "Parallel", "RunParallel", "Pull", "Pull2", "AfterFunc"}, s.Sel.Name) {
					t.Errorf("%s starts a goroutine", path)
				}
				return true
			})
		}
	}
}
