package tensorcache_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seeded are the functions of math/rand/v2 that take a seed. All others draw from a random one.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf"}

const testseedPath = module + "internal/testseed"

// TestTestsDrawTheSameValuesInEveryRun checks that no Go test has a seed that differs between runs,
// and that internal/testseed sets the seed of rapid in each package that uses it.
func TestTestsDrawTheSameValuesInEveryRun(t *testing.T) {
	usesRapid, setsSeed := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, one := range file.Imports {
			switch strings.Trim(one.Path.Value, `"`) {
			case "pgregory.net/rapid":
				usesRapid[filepath.Dir(path)] = true
			case testseedPath:
				setsSeed[filepath.Dir(path)] = true
			case "math/rand", "crypto/rand", "hash/maphash":
				t.Errorf("%s imports %s: use math/rand/v2 with a seed", path, one.Path.Value)
			case "math/rand/v2":
				if one.Name != nil {
					t.Errorf("%s names math/rand/v2 %s: leave the name out", path, one.Name)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := function(call, "rand"); ok && !slices.Contains(seeded, name) {
				t.Errorf("%s draws with another seed in each run: use testseed.Seed()",
					set.Position(call.Pos()))
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "UnixNano" {
				t.Errorf("%s is a seed of the clock: use testseed.Seed()", set.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(usesRapid) == 0 {
		t.Fatal("no package uses rapid")
	}
	for folder := range usesRapid {
		if !setsSeed[folder] && folder != "internal/testseed" {
			t.Errorf("the tests of %s use rapid: a file of them must import %s", folder,
				testseedPath)
		}
	}
}

// function returns the name of the function of a package that an expression calls.
func function(call *ast.CallExpr, from string) (string, bool) {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := selected.X.(*ast.Ident)
	// A package has no object in the file; a variable has one.
	return selected.Sel.Name, ok && x.Name == from && x.Obj == nil
}
