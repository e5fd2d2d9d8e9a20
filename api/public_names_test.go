package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/golden"
)

var update = flag.Bool("update", false, "write testdata/public/openapi.txt")

// TestPublicDocumentIsInTheGoldenList compares the OpenAPI document, without its descriptions, with
// testdata/public/openapi.txt.
func TestPublicDocumentIsInTheGoldenList(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(asJSON(fullDocument())))
	d.UseNumber()
	var document struct{ Paths, Components map[string]map[string]any }
	if err := d.Decode(&document); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for path, item := range document.Paths {
		if item["head"] != nil {
			item["head"] = "as get, without bodies"
		}
		lines = flatten(lines, path, item)
	}
	for kind, named := range document.Components {
		lines = flatten(lines, kind, named)
	}
	golden.Check(t, "..", "openapi.txt", lines, *update)
}

// descriptiveKeys are keys of the document that only describe.
var descriptiveKeys = []string{
	"description",
	"summary",
	"title",
	"version",
	"example",
	"examples",
	"tags",
}

// flatten returns one line for each leaf of a JSON value: its path and its value. It ignores the
// order of lists: the path contains the name of a parameter, or the index of another object.
func flatten(lines []string, path string, value any) []string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return append(lines, path+" {}")
		}
		for key, v := range value {
			if slices.Contains(descriptiveKeys, key) && !isObject(v) {
				continue
			}
			lines = flatten(lines, path+" "+key, v)
		}
	case []any:
		for i, v := range value {
			switch o, _ := v.(map[string]any); {
			case o["name"] != nil && o["in"] != nil:
				lines = flatten(lines, fmt.Sprintf("%s %s", path, o["name"]), v)
			case o != nil && o["$ref"] == nil:
				lines = flatten(lines, fmt.Sprintf("%s %d", path, i), v)
			default:
				lines = flatten(lines, path, v)
			}
		}
	default:
		lines = append(lines, fmt.Sprintf("%s = %s", path, asJSON(value)))
	}
	return lines
}

func isObject(v any) bool {
	_, is := v.(map[string]any)
	return is
}
