package api

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
)

// fullCoverageRequests is a number of requests that almost certainly serve every field.
const fullCoverageRequests = 100_000

// growthCheckInterval is after how many cases the fuzz target checks the resources again.
const growthCheckInterval = 50_000

// FuzzTheControlAPI sends random requests and compares the responses with the OpenAPI document. No
// response and no job may fail because of the daemon.
func FuzzTheControlAPI(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(binary.LittleEndian.AppendUint64(nil, seed), "x", "")
	}
	plan := `{"generation": 0, "spec": {"context_length": 3, "prediction_length": 2, "stride": 1, "rows": [0, -1], "max_missing": null}, "cuts": [{"where": {"rows": [0, 50]}}], "split": {"fractions": [0.8, 0.2]}, "options": {"order": "shuffle", "batch_size": 4}, "per_item": [0, 1]`
	for i, r := range routes {
		if r.method != "POST" {
			continue
		}
		for _, body := range []string{
			"null", "[null]", "{}", `{"sources": [null]}`,
			`{"sources": ["/nowhere/a.csv"], "dtype": "float32"}`, plan + "}",
			plan + `, "item_code": 0, "numbers": [0]}`, plan + `, "item_code": 0, "row": 7}`,
			`{"spec": {"context_length": 9223372036854775807}}`, `{"generation": -1}`,
			`{"when_idle": false}`, `{"spec": {"context_length": 1}, "split": 0, "row": 7}`,
		} {
			f.Add([]byte{byte(i), 0, 0, 0, 0}, "x", body)
		}
	}
	a := newRequestTester(f)
	a.killIfStuck(f)
	f.Cleanup(func() { a.TB = f })
	var before processResources
	f.Fuzz(func(t *testing.T, choices []byte, word, body string) {
		a.TB = t // the one of each run
		switch n := a.coverage.cases; {
		case n == growthCheckInterval/10:
			before = a.resources()
		case n > 0 && n%growthCheckInterval == 0:
			a.checkNoGrowth(t, before)
		}
		m := newRequestMaker(choices, word, a.words)
		q := m.request()
		if body != "" {
			q.body = []byte(body)
		}
		if err := a.send(q); err != nil {
			t.Errorf("%s %s %q: %v", q.method, q.target, q.body, err)
		}
	})
}

// TestMadeUpRequestsReachEveryFieldAndLeaveNothing checks that random requests have every field and
// parameter of every route, that many requests serve each of them, and that the daemon uses no more
// resources afterwards. TENSORCACHE_HTTP_REQUESTS is the number of requests.
func TestMadeUpRequestsReachEveryFieldAndLeaveNothing(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("TENSORCACHE_HTTP_REQUESTS"))
	if err != nil {
		n = 3_000
	}
	a := newRequestTester(t)
	a.killIfStuck(t)
	a.wantRemedies = n >= fullCoverageRequests
	var before processResources
	for i := range n {
		if i == n/3 {
			before = a.resources()
		}
		choices := binary.LittleEndian.AppendUint64(
			binary.LittleEndian.AppendUint64(nil, testseed.Seed()), uint64(i))
		m := newRequestMaker(nil, "wörd", a.words)
		m.random = newRequestMaker(choices, "", nil).random
		q := m.request()
		if err := a.send(q); err != nil {
			t.Errorf("%s %s %q: %v", q.method, q.target, q.body, err)
		}
	}
	a.checkNoGrowth(t, before)
	if missed := notCounted(a.coverage.requested); len(missed) > 0 {
		t.Errorf("no request was made up with\n%s", strings.Join(missed, "\n"))
	}
	if missed := notCounted(a.coverage.served); n >= fullCoverageRequests && len(missed) > 0 {
		t.Errorf("no request was served with\n%s", strings.Join(missed, "\n"))
	}
	t.Log(a.coverage.report())
}

// notCounted returns the documented fields without a count.
func notCounted(count map[string]int) (fields []string) {
	for _, f := range documentedFields() {
		if count[f] == 0 {
			fields = append(fields, f)
		}
	}
	return fields
}
