package tensorcache

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGoCodeOfReadmesCompiles checks the Go code of this README and of the repository's as a user's
// program. It adds what they leave out: the handling of errors, and uses of the variables.
func TestGoCodeOfReadmesCompiles(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	comment, assigned := regexp.MustCompile(`\s+//.*`), regexp.MustCompile(`^(\w+)(?:, (err))? := `)
	var functions []string
	// the name of the windows that the page's code begins with
	for page, there := range map[string]string{"README.md": "windows", "../../README.md": "train"} {
		found := blocks.FindAllStringSubmatch(string(must(os.ReadFile(page))(t)), -1)
		if len(found) == 0 {
			t.Fatalf("%s shows no Go", page)
		}
		for _, block := range found {
			_, code, whole := strings.Cut(block[1], "\n)\n") // behind the imports
			if !whole {
				code = block[1]
			}
			var lines []string
			for _, line := range strings.Split(comment.ReplaceAllString(code, ""), "\n") {
				if strings.HasSuffix(line, "()") && !strings.Contains(line, "=") {
					line = "use(" + line + ")"
				}
				lines = append(lines, strings.ReplaceAll(line, "{ ... }", "{ use(batch, err) }"))
				if names := assigned.FindStringSubmatch(line); names != nil {
					lines = append(lines,
						"use("+strings.TrimSuffix(names[1]+", "+names[2], ", ")+")")
				}
			}
			functions = append(functions, "func(ctx context.Context, "+there+
				" *tensorcache.Windows) error {\n{\n"+strings.Join(lines, "\n")+
				"\n}\nreturn nil\n}")
		}
	}
	program := `package main

import (
	"context"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/window"
)

var forecast []float64

func use(...any)                      {}
func train(context, target []float32) {}
func score(context, target []float32) {}
func embed(codes []int64)             {}

func main() {
	use(window.Spec{}, ` + strings.Join(functions, ", ") + `)
}
`
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}
