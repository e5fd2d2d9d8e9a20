package api

import "testing"

// TestEveryProblemSaysWhatToDo checks that a problem says what is wanted or has a hint. It must
// name the field, unless the whole body or no field is wrong.
func TestEveryProblemSaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	plan := func(rest string) [3]string {
		return [3]string{"POST", "/v1/datasets/etth1/plan", `{"spec": {"context_length": 3` + rest}
	}
	for _, q := range [][3]string{
		{"GET", "/v1/nothing", ""}, {"GET", "/assets/none.js", ""}, {"GET", "/login", ""},
		{"PATCH", "/v1/datasets", ""}, {"GET", "/v1/health", "[]"}, {"GET", "/v1/health?x=1", ""},
		{"GET", "/v1/jobs?limit=1&limit=2", ""},
		{"GET", "/v1/jobs?limit=0", ""}, {"GET", "/v1/jobs?state=x", ""},
		{"GET", "/v1/jobs?after=x", ""}, {"GET", "/v1/jobs/j9", ""},
		{"DELETE", "/v1/jobs/j1?owner=x", ""}, {"GET", "/v1/feeds/f9", ""},
		{"GET", "/v1/datasets/a%20b", ""}, {"GET", "/v1/datasets/none", ""},
		{"GET", "/v1/datasets/etth1/rows?item=1", ""}, {"GET", "/v1/datasets/etth1/rows?item_code=1",
			""}, {"GET", "/v1/datasets/etth1/rows?columns=x", ""},
		{"POST", "/v1/stop", "{"}, {"POST", "/v1/stop", "null"}, {"POST", "/v1/stop", "[]"},
		{"POST", "/v1/stop", `{"idle": true}`}, {"POST", "/v1/stop", `{"when_idle": 1}`},
		{"POST", "/v1/stop", `{"when_idle": true, "when_idle": true}`},
		{"POST", "/v1/datasets/x/load", `{"sources": ["a"]}`},
		{"POST", "/v1/datasets/x/load", `{"sources": ["/none.csv"]}`},
		{"POST", "/v1/datasets/x/load", `{"sources": ["/none.csv"], "zzz": 1}`},
		{"POST", "/v1/datasets/etth1/verify", `{"generation": 9}`},
		plan(`, "zzz": 1}}`), plan(`, "anchor": 1}}`), plan(`, "dtype": "int8"}}`),
		plan(`, "dtype": "int32"}}`), plan(`, "columns": []}}`),
		plan(`, "prediction_length": 1, "target_columns": []}}`),
		plan(`, "static_columns": ["OT"]}}`),
		plan(`}, "cuts": [{"were": {}}]}`), plan(`}, "cuts": [{"where": {"items": ["a"]}}]}`),
		plan(`}, "split": 1}`), plan(`}, "options": {"batch_size": 0}}`),
		plan(`}, "options": {"batch_size": 1099511627776}}`), plan(`}, "per_item": [0]}`),
	} {
		a := w.do(q[0], q[1], q[2])
		w.decodeProblem(a)
		if err := checkRemedy(a.body); err != nil {
			t.Errorf("%s %s %s: %v", q[0], q[1], q[2], err)
		}
	}
}

// TestTheFieldAtFaultIsNamedByItsPath includes fields within others.
func TestTheFieldAtFaultIsNamedByItsPath(t *testing.T) {
	w := newWorld(t)
	for body, field := range map[string]string{
		`{"speck": {}}`:               "speck",
		`{"spec": {}, "spec": {}}`:    "spec",
		`{"options": {"batch": 1}}`:   "options.batch",
		`{"options": {"rank": "0"}}`:  "options.rank",
		`{"per_item": [0, 1, 2]}`:     "per_item",
		`{"spec": {}, "per_item": 1}`: "per_item",
	} {
		if p := w.decodeProblem(w.do("POST", "/v1/datasets/x/plan", body)); p.Field != field ||
			p.Type != "invalid_request" {
			t.Errorf("%s: %+v, want the field %s", body, p, field)
		}
	}
}
