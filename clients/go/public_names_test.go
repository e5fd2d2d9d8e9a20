package tensorcache

import (
	"bytes"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/golden"
)

var update = flag.Bool("update", false, "write testdata/public/go_client.txt")

// TestPublicNamesAreInTheGoldenList compares the exported names of clients/go, window and sampler,
// and the types of other packages that these return, with testdata/public/go_client.txt.
func TestPublicNamesAreInTheGoldenList(t *testing.T) {
	const module = "github.com/tensorcache/tensorcache/"
	list := publicNames{seen: map[*types.TypeName]bool{}, module: module}
	list.load(t, module+"clients/go", module+"window", module+"sampler")
	golden.Check(t, "../..", "go_client.txt", list.lines, *update)
}

// publicNames collects one line for each public name.
type publicNames struct {
	module string
	lines  []string
	seen   map[*types.TypeName]bool // types whose fields and methods are in lines
}

// load adds the exported names of packages. It reads the compiler's export data, which has the
// exact types.
func (l *publicNames) load(t *testing.T, paths ...string) {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"},
		paths...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range bytes.Lines(out) {
		path, file, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		exports[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	imports := importer.ForCompiler(token.NewFileSet(), "gc", open)
	for _, path := range paths {
		p, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			if token.IsExported(name) {
				l.addObject(p.Scope().Lookup(name))
			}
		}
	}
}

func packageName(p *types.Package) string { return p.Name() }

// typeText returns a type without the names of parameters, on which no caller depends.
func typeText(t types.Type) string {
	s, is := t.(*types.Signature)
	if !is {
		return types.TypeString(t, packageName)
	}
	plain := types.NewSignatureType(nil, nil, nil, withoutNames(s.Params()),
		withoutNames(s.Results()),
		s.Variadic())
	out := types.TypeString(plain, packageName)
	if s.TypeParams().Len() > 0 {
		generic, _, _ := strings.Cut(types.TypeString(s, packageName), "](")
		out = generic + "]" + strings.TrimPrefix(out, "func")
	}
	return out
}

func withoutNames(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewVar(token.NoPos, nil, "", v.Type()))
	}
	return types.NewTuple(vars...)
}

func (l *publicNames) add(o types.Object, format string, args ...any) {
	l.lines = append(l.lines, o.Pkg().Name()+"."+o.Name()+" "+fmt.Sprintf(format, args...))
}

func (l *publicNames) addObject(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.add(o, "const %s = %s", typeText(o.Type()), o.Val().ExactString())
	case *types.TypeName:
		l.addType(o)
		return
	case *types.Func:
		l.add(o, "%s", typeText(o.Type()))
	default:
		l.add(o, "var %s", typeText(o.Type()))
	}
	l.follow(o.Type())
}

// addType adds a type with its exported fields and methods.
func (l *publicNames) addType(o *types.TypeName) {
	if l.seen[o] {
		return
	}
	l.seen[o] = true
	if alias, is := o.Type().(*types.Alias); is {
		l.add(o, "type = %s", typeText(alias.Rhs()))
		l.follow(alias.Rhs())
		return
	}
	underlying := o.Type().Underlying()
	if s, is := underlying.(*types.Struct); is {
		l.add(o, "type%s struct",
			strings.TrimPrefix(typeText(o.Type()), o.Pkg().Name()+"."+o.Name()))
		for i := range s.NumFields() {
			if f := s.Field(i); f.Exported() {
				line := fmt.Sprintf("%s.%s.%s field %s", o.Pkg().Name(), o.Name(), f.Name(),
					typeText(f.Type()))
				if tag := s.Tag(i); tag != "" {
					line += " `" + tag + "`"
				}
				l.lines = append(l.lines, line)
				l.follow(f.Type())
			}
		}
	} else {
		l.add(o, "type %s", typeText(underlying))
		l.follow(underlying)
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	if types.IsInterface(o.Type()) {
		methods = types.NewMethodSet(o.Type())
	}
	for i := range methods.Len() {
		if m := methods.At(i).Obj().(*types.Func); m.Exported() {
			receiver := m.Signature().Recv().Type()
			l.lines = append(l.lines, fmt.Sprintf("%s.%s.%s method (%s) %s",
				o.Pkg().Name(), o.Name(), m.Name(), typeText(receiver), typeText(m.Type())))
			l.follow(m.Type())
		}
	}
}

// follow adds the exported types of this module in a type, so that the list has all that a
// user's program can reach.
func (l *publicNames) follow(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		if o := t.Obj(); o.Pkg() != nil && o.Exported() &&
			strings.HasPrefix(o.Pkg().Path(), l.module) {
			l.addType(t.Origin().Obj())
		}
		for arg := range t.TypeArgs().Types() {
			l.follow(arg)
		}
	case *types.Alias:
		if o := t.Obj(); o.Pkg() != nil && o.Exported() &&
			strings.HasPrefix(o.Pkg().Path(), l.module) {
			l.addType(o)
		}
		l.follow(t.Rhs())
	case *types.Signature:
		l.follow(t.Params())
		l.follow(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			l.follow(v.Type())
		}
	case *types.Map:
		l.follow(t.Key())
		l.follow(t.Elem())
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			l.follow(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			l.follow(term.Type())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		l.follow(t.Elem())
	}
}
