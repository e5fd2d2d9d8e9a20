package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// documentFiles are the OpenAPI document by topic. Each file is an object of paths and components;
// the document is their union.
//
//go:embed openapi/*.json
var documentFiles embed.FS

// openapiDocument is an OpenAPI 3.1 document.
type openapiDocument struct {
	OpenAPI    string                               `json:"openapi"`
	Info       map[string]any                       `json:"info"`
	Servers    []any                                `json:"servers"`
	Paths      map[string]map[string]any            `json:"paths"`
	Components map[string]map[string]map[string]any `json:"components"`
}

// commonStatuses are the statuses with which every operation may answer a problem.
var commonStatuses = []string{"400", "401", "403", "408", "413", "415", "500", "503"}

// fullDocument returns the document of the control API. It is made when it is first needed, because
// most commands do not need it.
var fullDocument = sync.OnceValue(func() *openapiDocument {
	d, err := assembleDocument()
	if err != nil { // the files are embedded, so this is a bug
		panic(fmt.Sprintf("api/openapi: %v", err))
	}
	return d
})

// assembleDocument joins the files and adds what all operations share: the common problems, and
// HEAD beside GET.
func assembleDocument() (*openapiDocument, error) {
	d := &openapiDocument{Paths: map[string]map[string]any{},
		Components: map[string]map[string]map[string]any{}}
	files, err := documentFiles.ReadDir("openapi")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		b, err := documentFiles.ReadFile("openapi/" + f.Name())
		if err != nil {
			return nil, err
		}
		if err := d.add(b); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	for _, item := range d.Paths {
		for _, method := range slices.Collect(maps.Keys(item)) {
			op, ok := item[method].(map[string]any)
			if !ok {
				continue
			}
			responses, ok := op["responses"].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%v has no responses", op["operationId"])
			}
			for _, status := range commonStatuses {
				if responses[status] == nil {
					responses[status] = map[string]any{"$ref": "#/components/responses/Problem"}
				}
			}
			if method == "get" {
				item["head"] = headOperation(op, responses)
			}
		}
	}
	return d, nil
}

// add adds a file. It refuses what another file has too.
func (d *openapiDocument) add(b []byte) error {
	var part openapiDocument
	r := json.NewDecoder(bytes.NewReader(b))
	r.DisallowUnknownFields()
	if err := r.Decode(&part); err != nil {
		return err
	}
	if part.OpenAPI != "" {
		d.OpenAPI, d.Info, d.Servers = part.OpenAPI, part.Info, part.Servers
	}
	for path, item := range part.Paths {
		if d.Paths[path] != nil {
			return fmt.Errorf("%s is in two parts", path)
		}
		d.Paths[path] = item
	}
	for kind, named := range part.Components {
		if d.Components[kind] == nil {
			d.Components[kind] = map[string]map[string]any{}
		}
		for name, c := range named {
			if d.Components[kind][name] != nil {
				return fmt.Errorf("%s %s is in two parts", kind, name)
			}
			d.Components[kind][name] = c
		}
	}
	return nil
}

// withVersion returns the document with this version of the program.
func (d *openapiDocument) withVersion(version string) *openapiDocument {
	out := *d
	out.Info = maps.Clone(d.Info)
	out.Info["version"] = version
	return &out
}

// headOperation returns the operation HEAD of a GET: the same without bodies.
func headOperation(operation, responses map[string]any) map[string]any {
	head := maps.Clone(operation)
	head["operationId"] = fmt.Sprint(operation["operationId"], "Head")
	withoutBodies := map[string]any{}
	for status, r := range responses {
		description, ok := r.(map[string]any)["description"]
		if !ok {
			description = "a problem"
		}
		withoutBodies[status] = map[string]any{"description": description}
	}
	head["responses"] = withoutBodies
	return head
}

// parameters returns the names of the query parameters of an operation, sorted.
func (d *openapiDocument) parameters(method, path string) []string {
	item := d.Paths[path]
	op, _ := item[strings.ToLower(method)].(map[string]any)
	var names []string
	for _, object := range []map[string]any{item, op} {
		list, _ := object["parameters"].([]any)
		for _, p := range list {
			param, _ := p.(map[string]any)
			if ref, ok := param["$ref"].(string); ok {
				param = d.Components["parameters"][strings.TrimPrefix(ref,
					"#/components/parameters/")]
			}
			if name, ok := param["name"].(string); ok && param["in"] == "query" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// allowedInput says what requests of a route may have.
type allowedInput struct {
	query []string
	body  bool
}

// allowedInputs returns the allowed input by the method and path of a route.
var allowedInputs = sync.OnceValue(func() map[string]allowedInput {
	all := map[string]allowedInput{}
	for _, r := range routes {
		op, _ := fullDocument().Paths[r.path][strings.ToLower(r.method)].(map[string]any)
		_, body := op["requestBody"]
		all[r.method+r.path] = allowedInput{fullDocument().parameters(r.method, r.path), body}
	}
	return all
})

// hintNoBody is the hint for a body of a route that takes none.
const hintNoBody = "leave the body out"

// checkRequest refuses unknown query parameters, repeated ones, and a body if the route takes none.
// It accepts an empty object as no body.
func checkRequest(ctx *fasthttp.RequestCtx, r *route) error {
	allowed := allowedInputs()[r.method+r.path]
	body := bytes.TrimSpace(ctx.PostBody())
	if !allowed.body && len(body) > 0 && string(body) != "{}" {
		return wire.NewProblem(wire.InvalidRequest, "%s %s takes no body", r.method, r.path).
			WithHint("%s", hintNoBody)
	}
	if len(ctx.URI().QueryString()) == 0 {
		return nil
	}
	want := strings.Join(allowed.query, ", ")
	if want == "" {
		want = "none"
	}
	seen := map[string]bool{}
	for key := range ctx.QueryArgs().All() {
		name := string(key)
		if !slices.Contains(allowed.query, name) {
			return wire.NewProblem(wire.InvalidRequest, "there is no parameter %q here, want %s",
				name, want).WithField(name)
		}
		if seen[name] {
			return wire.NewProblem(wire.InvalidRequest, "%s: is given more than once", name).
				WithField(name)
		}
		seen[name] = true
	}
	return nil
}

func (s *Server) openapi(ctx *fasthttp.RequestCtx) error {
	b, err := s.document()
	if err == nil {
		replyTaggedJSON(ctx, b)
	}
	return err
}
