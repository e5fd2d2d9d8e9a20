package api

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
)

// TestEveryListOfOrdersEqualsTheSamplers compares the control API, the dashboard and the docs with
// the sampler's orders.
func TestEveryListOfOrdersEqualsTheSamplers(t *testing.T) {
	var enum []string
	options := fullDocument().Components["schemas"]["FeedOptions"]
	properties := options["properties"].(map[string]any)
	for _, name := range properties["order"].(map[string]any)["enum"].([]any) {
		if name, ok := name.(string); ok && name != "" { // "" and null are the default
			enum = append(enum, name)
		}
	}
	if !slices.Equal(enum, sampler.Orders()) {
		t.Errorf("the control API takes %q, the sampler %q", enum, sampler.Orders())
	}
	script, err := dashboardFiles.ReadFile("dashboard/fields.js")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`"options", "order", "order", \[([^]]*)\]`).FindSubmatch(script)
	if list == nil {
		t.Fatal("the dashboard has no choice of orders")
	}
	var choices []string
	for _, m := range regexp.MustCompile(`"([^"]*)"`).FindAllSubmatch(list[1], -1) {
		choices = append(choices, string(m[1]))
	}
	if want := append([]string{""}, sampler.Orders()...); !slices.Equal(choices, want) {
		t.Errorf("the dashboard offers %q, want %q", choices, want)
	}
	windows, err := os.ReadFile("../docs/WINDOWS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sampler.Orders() {
		if !strings.Contains(httpPage(t), `"`+name+`"`) {
			t.Errorf("docs/HTTP.md does not name %s", name)
		}
		if !strings.Contains(string(windows), "\n| `"+name+"` |") {
			t.Errorf("docs/WINDOWS.md does not describe %s", name)
		}
	}
}
