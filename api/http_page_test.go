package api

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// httpPage returns docs/HTTP.md.
func httpPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/HTTP.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestThePageListsEveryRouteAndProblem(t *testing.T) {
	text := httpPage(t)
	var listed, served []string
	for line := range strings.Lines(text) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && cell[0] == '`' {
			for _, m := range regexp.MustCompile(
				"`([A-Z]+ /[^`? ]*)").FindAllStringSubmatch(cell, -1) {
				listed = append(listed, m[1])
			}
		}
	}
	for _, r := range routes {
		served = append(served, r.method+" "+r.path)
	}
	slices.Sort(listed)
	slices.Sort(served)
	if !slices.Equal(listed, served) {
		t.Errorf("listed and served:\n%s\n\n%s", strings.Join(listed, "\n"),
			strings.Join(served, "\n"))
	}
	var types []string
	for _, m := range regexp.MustCompile(
		"(?m)^\\| `([a-z_]+)` \\| ([0-9]+) ").FindAllStringSubmatch(text, -1) {
		types = append(types, m[1])
		if p := wire.NewProblem(m[1], ""); strconv.Itoa(p.Status) != m[2] {
			t.Errorf("%s has status %d, the page says %s", m[1], p.Status, m[2])
		}
	}
	slices.Sort(types)
	if !slices.Equal(types, wire.Types()) {
		t.Errorf("the page lists the problems\n%v\nthe daemon has\n%v", types, wire.Types())
	}
}

func TestThePageNamesEveryFieldOfARequest(t *testing.T) {
	text := httpPage(t)
	schemas, seen := fullDocument().Components["schemas"], map[string]bool{}
	var visit func(any)
	visit = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, v := range x {
				visit(v)
			}
		case map[string]any:
			if ref, ok := x["$ref"].(string); ok && !seen[ref] {
				seen[ref] = true
				visit(schemas[strings.TrimPrefix(ref, "#/components/schemas/")])
			}
			fields, _ := x["properties"].(map[string]any)
			for name := range fields {
				if !strings.Contains(text, `"`+name+`"`) && !strings.Contains(text, "`"+name+"`") {
					t.Errorf("docs/HTTP.md does not name %s: add it to its request under Bodies",
						name)
				}
			}
			for _, v := range x {
				visit(v)
			}
		}
	}
	for _, item := range fullDocument().Paths {
		for _, op := range item {
			if op, ok := op.(map[string]any); ok {
				visit(op["requestBody"])
			}
		}
	}
	if !seen["#/components/schemas/LoadOptions"] {
		t.Error("no body was looked at")
	}
}

// TestTheExamplesOfThePageAreAnsweredSo sends each example request of the page and compares the
// response with the page, where … stands for further fields or elements.
func TestTheExamplesOfThePageAreAnsweredSo(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	examples := regexp.MustCompile(
		`(?m)^    ([A-Z]+) (/\S+)(?: (\{.*\}))?\n    ([0-9]{3})(?: (.*))?$`).FindAllStringSubmatch(
		httpPage(t), -1)
	if len(examples) < 4 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for _, e := range examples {
		var body any
		if e[3] != "" {
			body = e[3]
		}
		a := w.do(e[1], e[2], body)
		if strconv.Itoa(a.status) != e[4] {
			t.Errorf("%s %s answered %d, want %s: %s", e[1], e[2], a.status, e[4], a.body)
			continue
		}
		if e[5] == "" {
			continue
		}
		var want, got any
		if err := json.Unmarshal([]byte(regexp.MustCompile(`,? ?…`).ReplaceAllString(e[5], "")),
			&want); err != nil {
			t.Errorf("%s: %v", e[5], err)
		} else if err := json.Unmarshal(a.body, &got); err != nil {
			t.Error(err)
		} else if !containsJSON(got, want) {
			t.Errorf("%s %s\nanswered %s\nthe page says %s", e[1], e[2], a.body, e[5])
		}
	}
}

// containsJSON reports whether got has all that want has: the fields of objects, and the first
// elements of lists.
func containsJSON(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, v := range want {
			x, there := g[k]
			ok = ok && there && containsJSON(x, v)
		}
		return ok
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) < len(want) {
			return false
		}
		for i, v := range want {
			if !containsJSON(g[i], v) {
				return false
			}
		}
		return true
	}
	return got == want
}
