package step

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// optionNames returns the names of all steps in package option, in their order.
func optionNames() []string {
	var names []string
	for _, f := range option.StepFlags(&option.Options{}) {
		names = append(names, f.Name)
	}
	return names
}

func TestKindsEqualTheStepsOfTheOptions(t *testing.T) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	if want := optionNames(); !slices.Equal(names, want) {
		t.Fatalf("kinds are %v, want %v as in package option", names, want)
	}
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[option.Options]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); slices.Contains(names, name) {
			fields = append(fields, name)
		}
	}
	if !slices.Equal(fields, names) {
		t.Errorf("the fields of Options are in the order %v, want %v", fields, names)
	}
}

// TestEveryStepIsInEveryPublicInterface searches the lists of public names in testdata/public for
// each step. Tests of api, cmd and the clients compare these lists with the code.
func TestEveryStepIsInEveryPublicInterface(t *testing.T) {
	for file, lines := range map[string][]string{
		"cli.txt": {"tensorcache load --NAME ", "tensorcache put --NAME "},
		"openapi.txt": {"schemas LoadOptions properties NAME ",
			"schemas Prepared properties NAME "},
		"go_client.txt": {"tensorcache.LoadOptions.Name field "},
		"python.txt":    {"tensorcache.Cache.load(NAME=)", "tensorcache.Cache.put(NAME=)"},
	} {
		text, err := os.ReadFile(filepath.Join("../../../testdata/public", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range optionNames() {
			for _, line := range lines {
				if strings.Contains(line, "Prepared") && (name == "clip" || name == "scale") {
					continue // recorded as clip_low and clip_high, and as Scale
				}
				line = strings.NewReplacer("NAME", name, "Name", strings.ToUpper(name[:1])+
					name[1:]).Replace(line)
				if !strings.Contains("\n"+string(text), "\n"+line) {
					t.Errorf("%s has no line %q: add the option there, and write the list again; "+
						"see Add a step in CONTRIBUTING.md", file, line)
				}
			}
		}
	}
}
