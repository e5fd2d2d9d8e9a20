package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// coverage counts requests and their results.
type coverage struct {
	cases     int
	requested map[string]int            // requests by route and field
	served    map[string]int            // successful requests by route and field
	statuses  map[string]map[int]int    // responses by route
	problems  map[string]map[string]int // problems by type and route
	jobs      map[string]int            // jobs by kind and state
}

func (a *requestTester) record(q randomRequest, got response) {
	at := q.route.method + " " + q.route.path
	if a.coverage.statuses[at] == nil {
		a.coverage.statuses[at] = map[int]int{}
	}
	a.coverage.statuses[at][got.status]++
	for _, f := range q.fields {
		a.coverage.requested[at+" "+f]++
		if got.status < 400 && q.method == q.route.method {
			a.coverage.served[at+" "+f]++
		}
	}
	if got.status >= 400 &&
		strings.HasPrefix(got.header.Get("Content-Type"), "application/problem") {
		var p wire.Problem
		if json.Unmarshal(got.body, &p) == nil {
			if a.coverage.problems[p.Type] == nil {
				a.coverage.problems[p.Type] = map[string]int{}
			}
			a.coverage.problems[p.Type][at]++
		}
	}
}

// report returns the counts as text.
func (r *coverage) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases\n", r.cases)
	for _, at := range slices.Sorted(maps.Keys(r.statuses)) {
		fmt.Fprintf(&b, "%-44s %v\n", at, r.statuses[at])
	}
	fmt.Fprintf(&b, "jobs: %v\n", r.jobs)
	for _, typ := range slices.Sorted(maps.Keys(r.problems)) {
		n := 0
		for _, c := range r.problems[typ] {
			n += c
		}
		fmt.Fprintf(&b, "problem %-24s %8d on %d routes\n", typ, n, len(r.problems[typ]))
	}
	requested, served, all := 0, 0, 0
	for _, f := range documentedFields() {
		all++
		if r.requested[f] > 0 {
			requested++
		}
		if r.served[f] > 0 {
			served++
		}
	}
	fmt.Fprintf(&b,
		"of %d fields and parameters of %d routes %d were given, "+
			"%d of them in a request that was served\n", all, len(routes), requested, served)
	return b.String()
}

// documentedFields returns the fields and parameters of all routes.
var documentedFields = sync.OnceValue(func() (all []string) {
	for i := range routes {
		for _, f := range fieldsOf(&routes[i]) {
			all = append(all, routes[i].method+" "+routes[i].path+" "+f)
		}
	}
	return all
})
