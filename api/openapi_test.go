package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// openapiSpec is the document as kin-openapi reads it.
var openapiSpec = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromData(asJSON(fullDocument().withVersion("test")))
	if err == nil {
		err = doc.Validate(context.Background(), openapi3.EnableSchemaFormatValidation())
	}
	if err != nil {
		panic(err)
	}
	return doc
})

// operation returns the operation of a request, or nil if the document has none.
func operation(method, path string) *openapi3.Operation {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, s := range segments {
		if text, err := url.PathUnescape(s); err == nil {
			segments[i] = text
		}
	}
	for template, item := range openapiSpec().Paths.Map() {
		r := route{path: template}
		if _, ok := r.match(segments); ok {
			return item.GetOperation(method)
		}
	}
	return nil
}

// contractError says how an exchange differs from the document. A successful request must match it.
// A refused request may be anything, but its response must match.
func contractError(method, target string, body []byte, a response) error {
	u, err := url.Parse(target)
	if err != nil {
		return nil // a client cannot send this request
	}
	op := operation(method, u.EscapedPath())
	if op == nil {
		if method == "HEAD" {
			return nil
		}
		return checkSchema("#/components/schemas/Problem", a.body)
	}
	documented := op.Responses.Status(a.status)
	if documented == nil {
		return fmt.Errorf("status %d is not documented", a.status)
	}
	if a.status < 300 {
		if err := servedError(op, u.Query(), body); err != nil {
			return fmt.Errorf("it was served, though the document forbids it: %w", err)
		}
	}
	content := documented.Value.Content
	if len(content) == 0 {
		if len(a.body) > 0 {
			return fmt.Errorf("a body is not documented: %s", a.body)
		}
		return nil
	}
	media := content.Get(a.header.Get("Content-Type"))
	if media == nil {
		return fmt.Errorf("content type %q is not documented", a.header.Get("Content-Type"))
	}
	if media.Schema == nil || !strings.HasSuffix(a.header.Get("Content-Type"), "json") {
		return nil
	}
	return checkSchema(media.Schema.Ref, a.body)
}

// servedError says how a successful request differs from the document.
func servedError(op *openapi3.Operation, query url.Values, body []byte) error {
	for name := range query {
		if op.Parameters.GetByInAndName("query", name) == nil {
			return fmt.Errorf("parameter %q", name)
		}
	}
	if op.RequestBody == nil {
		// an empty object counts as no body
		if text := string(bytes.TrimSpace(body)); text != "" && text != "{}" {
			return fmt.Errorf("a body: %s", body)
		}
		return nil
	}
	if len(body) == 0 && !op.RequestBody.Value.Required {
		return nil
	}
	return checkSchema(op.RequestBody.Value.Content.Get("application/json").Schema.Ref, body)
}

// schemas compiles each schema of the document once. kin-openapi's own validator follows OpenAPI
// 3.0 when a schema refers to another, and then refuses null in an enum. This is the validator
// below it, which follows 3.1.
var schemas = sync.OnceValue(func() func(ref string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON(fullDocument())))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", doc); err != nil {
		panic(err)
	}
	var mu sync.Mutex // guards c, which caches compiled schemas
	return func(ref string) *jsonschema.Schema {
		mu.Lock()
		defer mu.Unlock()
		return c.MustCompile("openapi.json" + ref)
	}
})

// checkSchema checks a body against a schema of the components.
func checkSchema(ref string, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	if err := schemas()(ref).Validate(v); err != nil {
		return fmt.Errorf("%w\nof %s", err, body)
	}
	return nil
}

func TestTheDocumentIsServedAndHasEveryRouteAndNoOther(t *testing.T) {
	w := newWorld(t)
	a := w.do("GET", "/v1/openapi.json", nil)
	doc, err := openapi3.NewLoader().LoadFromData(a.body)
	if err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "test" {
		t.Errorf("%s of %s", doc.OpenAPI, doc.Info.Version)
	}
	var served, documented []string
	for _, r := range routes {
		served = append(served, r.method+" "+r.path)
		if r.method == "GET" {
			served = append(served, "HEAD "+r.path)
		}
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			documented = append(documented, method+" "+path)
			if ids[op.OperationID] || op.OperationID == "" || op.Summary == "" ||
				len(op.Tags) != 1 {
				t.Errorf("%s %s: want an operationId of its own, a summary and one tag, "+
					"got %q, %q, %v", method, path, op.OperationID, op.Summary, op.Tags)
			}
			ids[op.OperationID] = true
			for status, r := range op.Responses.Map() {
				for media, content := range r.Value.Content {
					if strings.HasSuffix(media, "json") &&
						(content.Schema == nil || content.Schema.Ref == "") {
						t.Errorf("%s %s: the body of %s is no schema of the components", method,
							path, status)
					}
				}
			}
		}
	}
	slices.Sort(served)
	slices.Sort(documented)
	if !slices.Equal(served, documented) {
		t.Errorf("served and documented:\n%s\n%s", strings.Join(served, "\n"),
			strings.Join(documented, "\n"))
	}
}

// TestTheDocumentKnowsEveryProblem is needed because clients depend on the types of problems.
func TestTheDocumentKnowsEveryProblem(t *testing.T) {
	var documented []string
	problem := openapiSpec().Components.Schemas["Problem"].Value
	for _, typ := range problem.Properties["type"].Value.Enum {
		documented = append(documented, typ.(string))
	}
	slices.Sort(documented)
	if types := wire.Types(); !slices.Equal(types, documented) {
		t.Errorf("the daemon has\n%v\nthe document\n%v", types, documented)
	}
}

// TestEveryObjectOfTheDocumentIsClosed checks that all objects forbid fields that are not
// documented.
func TestEveryObjectOfTheDocumentIsClosed(t *testing.T) {
	var walk func(at string, v any, within bool)
	// inside oneOf, whose other properties are those of the object around it
	walk = func(at string, v any, within bool) {
		switch v := v.(type) {
		case map[string]any:
			_, closed := v["additionalProperties"]
			_, properties := v["properties"].(map[string]any)
			if properties && !closed && !within {
				t.Errorf("%s has no additionalProperties", at)
			}
			for k, x := range v {
				walk(at+"/"+k, x, properties && closed && k == "oneOf")
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s/%d", at, i), x, within)
			}
		}
	}
	var doc any
	if err := json.Unmarshal(asJSON(fullDocument()), &doc); err != nil {
		t.Fatal(err)
	}
	walk("", doc, false)
}

func TestParametersThatARouteDoesNotTakeAreRefused(t *testing.T) {
	w := newWorld(t)
	for target, says := range map[string]string{
		"/v1/health?verbose=1":                `there is no parameter "verbose" here, want none`,
		"/v1/jobs/j1?wait=1":                  `there is no parameter "wait" here, want wait_ms`,
		"/v1/jobs/j1?wait_ms=1&wait_ms=2":     "wait_ms: is given more than once",
		"/v1/jobs/j1?" + url.QueryEscape("ü"): `there is no parameter "ü" here, want wait_ms`,
	} {
		a := w.do("GET", target, nil)
		w.wantProblem(a, wire.InvalidRequest, says)
		if p := w.decodeProblem(a); p.Field == "" {
			t.Errorf("%s: no field", target)
		}
	}
}

// TestContractErrorsAreFound checks that contractError finds differences.
func TestContractErrorsAreFound(t *testing.T) {
	json := map[string][]string{"Content-Type": {"application/json"}}
	for name, test := range map[string]struct {
		method, target, body string
		a                    response
	}{
		"an unknown field": {"GET", "/v1/feeds", "",
			response{200, json, []byte(`{"feeds": [], "next": null, "more": 1}`)}},
		"a missing field": {"GET", "/v1/feeds", "", response{200, json, []byte(`{}`)}},
		"null for a list": {"GET", "/v1/feeds", "",
			response{200, json, []byte(`{"feeds": null, "next": null}`)}},
		"a nested field": {"POST", "/v1/stop", "", response{202, json, []byte(`{"pid": "1"}`)}},
		"another status": {"GET", "/v1/feeds", "",
			response{201, json, []byte(`{"feeds": [], "next": null}`)}},
		"a content type": {"GET", "/v1/feeds", "",
			response{200, map[string][]string{"Content-Type": {"text/plain"}},
				[]byte(`{"feeds": [], "next": null}`)}},
		"a served parameter": {"GET", "/v1/feeds?x=1", "",
			response{200, json, []byte(`{"feeds": [], "next": null}`)}},
		"a served body": {"DELETE", "/v1/jobs/j1", "[]",
			response{202, json, []byte(`{"pid": 1}`)}},
		"an unknown problem": {"GET", "/v1/nothing", "",
			response{404, json,
				[]byte(`{"type": "odd", "title": "x", "status": 404, "detail": "x"}`)}},
	} {
		if contractError(test.method, test.target, []byte(test.body), test.a) == nil {
			t.Errorf("%s is not seen", name)
		}
	}
	if err := contractError("GET", "/v1/feeds", nil,
		response{200, json, []byte(`{"feeds": [], "next": null}`)}); err != nil {
		t.Error(err)
	}
}
