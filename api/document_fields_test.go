package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// spec is a part of the OpenAPI document.
type spec = map[string]any

// documentJSON returns the document as JSON values; numbers stay text.
var documentJSON = sync.OnceValue(func() spec {
	d := json.NewDecoder(bytes.NewReader(asJSON(fullDocument())))
	d.UseNumber()
	var doc spec
	if err := d.Decode(&doc); err != nil {
		panic(err)
	}
	return doc
})

// resolveRef returns what a reference refers to.
func resolveRef(v any) spec {
	s, _ := v.(spec)
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		var at any = documentJSON()
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(spec)[part]
		}
		s = at.(spec)
	}
}

// inputOf returns the parameters and the schema of the body of a route.
func inputOf(r *route) (parameters []spec, body any) {
	item := documentJSON()["paths"].(spec)[r.path].(spec)
	op := item[strings.ToLower(r.method)].(spec)
	for _, of := range []spec{item, op} {
		list, _ := of["parameters"].([]any)
		for _, p := range list {
			parameters = append(parameters, resolveRef(p))
		}
	}
	if b, ok := op["requestBody"].(spec); ok {
		body = b["content"].(spec)["application/json"].(spec)["schema"]
	}
	return parameters, body
}

// weightedRoutes returns the routes; those with many fields are repeated.
var weightedRoutes = sync.OnceValue(func() (list []*route) {
	for i := range routes {
		for range 1 + len(fieldsOf(&routes[i]))/6 {
			list = append(list, &routes[i])
		}
	}
	return list
})

// fieldsOf returns the paths of all fields and parameters of a route.
func fieldsOf(r *route) []string { return allFields()[r] }

var allFields = sync.OnceValue(func() map[*route][]string {
	all := map[*route][]string{}
	for i := range routes {
		all[&routes[i]] = findFields(&routes[i])
	}
	return all
})

func findFields(r *route) []string {
	seen := map[string]bool{}
	var walk func(schema any, at string)
	walk = func(schema any, at string) {
		s := resolveRef(schema)
		for _, of := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := s[of].([]any)
			for _, one := range list {
				walk(one, at)
			}
		}
		properties, _ := s["properties"].(spec)
		for name, p := range properties {
			seen[joinPath(at, name)] = true
			walk(p, joinPath(at, name))
		}
		if more, ok := s["additionalProperties"].(spec); ok {
			seen[joinPath(at, "*")] = true
			walk(more, joinPath(at, "*"))
		}
		if items, ok := s["items"]; ok {
			walk(items, at+"[]")
		}
	}
	parameters, body := inputOf(r)
	for _, p := range parameters {
		switch p["in"] {
		case "query":
			seen["?"+p["name"].(string)] = true
		case "header":
			seen["If-None-Match"] = true
		}
	}
	walk(body, "")
	return slices.Sorted(maps.Keys(seen))
}
