package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/golden"
)

// flagInText matches a flag in a text.
var flagInText = regexp.MustCompile(`(^|[^\w-])--[a-z]`)

// eachText calls text with each string of the Go files below a directory, and option with the first
// argument of calls like loaderr.Option("sort", true).
func eachText(t *testing.T, dir string, text func(place, text string), option func(name string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".venv") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				return n.Tag == nil
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					text(files.Position(n.Pos()).String(), s)
				}
			case *ast.CallExpr:
				callee, ok := n.Fun.(*ast.SelectorExpr)
				if ok && strings.HasSuffix(callee.Sel.Name, "Option") && len(n.Args) > 1 {
					if name, ok := n.Args[0].(*ast.BasicLit); ok && name.Kind == token.STRING {
						option(strings.Trim(name.Value, `"`))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// daemonDirs are the directories whose messages reach clients.
var daemonDirs = []string{"../../api", "../../internal", "../../layout", "../../sampler",
	"../../store", "../../window", "../../clients/go"}

// TestNoMessageOfTheDaemonNamesAFlag checks that messages name options in a way that each client
// replaces by its own. Each option is a flag; a test of the Python client checks that each is a
// keyword.
func TestNoMessageOfTheDaemonNamesAFlag(t *testing.T) {
	flags := flagsFor(newRoot())
	var options []string
	add := func(name string) { options = append(options, name) }
	messages := 0
	for _, dir := range daemonDirs {
		eachText(t, dir, func(place, text string) {
			if !strings.Contains(text, " ") || strings.Contains(text, ":root {") { // or a style
				return
			}
			messages++
			// lines to type; only the command line and the dashboard show the first
			if flagInText.MatchString(text) && !strings.Contains(text, "tensorcache pin %s --off") &&
				!strings.Contains(text, "curl --unix-socket") {
				t.Errorf("%s: %q names a flag", place, text)
			}
			for _, m := range optionInText.FindAllStringSubmatch(text, -1) {
				if m[1] != "a" { // the usage of the flags of steps
					add(m[1])
				}
			}
		}, add)
	}
	if messages < 1000 {
		t.Errorf("found %d messages, want more: is the code elsewhere now?", messages)
	}
	for _, name := range options {
		if flags[name] == "" {
			t.Errorf("%q is in a message and is no flag", name)
		}
	}
	golden.Check(t, "../..", "message_options.txt", options, *update)
}

// TestNoMessageOfTheCommandLineNamesAKeyword checks the messages of this package.
func TestNoMessageOfTheCommandLineNamesAKeyword(t *testing.T) {
	flags := flagsFor(newRoot())
	eachText(t, ".", func(place, text string) {
		// a recipe has the daemon's names
		if !strings.Contains(text, " ") || strings.Contains(text, `{"fit_rows"`) {
			return
		}
		for _, name := range longName.FindAllString(text, -1) {
			if flags[name] != "" {
				t.Errorf("%s: %q names the keyword %s", place, text, name)
			}
		}
	}, func(string) {})
}
