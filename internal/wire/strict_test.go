package wire

import (
	"errors"
	"fmt"
	"testing"
)

func TestStrictReadsOneValueOfKnownFields(t *testing.T) {
	var h RequestHeader
	if err := Strict([]byte(` {"protocol": 1, "request": "open"} `+"\n"), &h); err != nil ||
		h.Newest != 1 || h.Request != "open" {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"", "{", `{"protokol": 1}`, `{} {}`, `{}}`, `{}]`, `{},`, `{} x`,
		`[]`, `"x"`} {
		if err := Strict([]byte(bad), &h); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestStrictErrorsDoNotNameGoStructs: the JSON path does not contain embedded structs.
func TestStrictErrorsDoNotNameGoStructs(t *testing.T) {
	var into struct {
		RequestHeader
		More int `json:"more"`
	}
	if err := Strict([]byte(`{"protocol": 1.5}`), &into); err == nil ||
		err.Error() != "protocol: got 1.5, want a whole number" {
		t.Error(err)
	}
}

func TestStrictErrorsNameTypesOfJSON(t *testing.T) {
	var into struct {
		Item  []string           `json:"item_id"`
		Rows  *[2]*int64         `json:"fit_rows"`
		Sort  bool               `json:"sort"`
		Time  string             `json:"time"`
		Share *float64           `json:"share"`
		By    map[string]float64 `json:"by"`
		Deep  []struct {
			ID string `json:"item_idx"`
		} `json:"deep"`
		Range  *[2]int64 `json:"range"`
		Shares []float64 `json:"shares"`
	}
	for text, want := range map[string]string{
		`{"item_id": "id"}`:            `item_id: got text, want a list, as ["id"]`,
		`{"item_id": 1}`:               "item_id: got a number, want a list",
		`{"shares": "id"}`:             "shares: got text, want a list",
		`{"item_id": [1]}`:             "item_id: got a number, want text",
		`{"fit_rows": [0.5, 1]}`:       "fit_rows: got 0.5, want a whole number",
		`{"sort": {}}`:                 "sort: got an object, want true or false",
		`{"time": true}`:               "time: got a boolean, want text",
		`{"share": []}`:                "share: got a list, want a number",
		`{"by": 1}`:                    "by: got a number, want an object",
		`[1]`:                          "got a list, want an object",
		`{"scal": 1}`:                  `unknown field "scal"; there are: item_id, fit_rows, sort, time, share, by, deep, range, shares`,
		`{"fitrows": 1}`:               `unknown field "fitrows"; near: fit_rows`,
		`{"itm_id": 1}`:                `unknown field "itm_id"; near: item_id, item_idx`,
		`{"deep": [{"z": 1}]}`:         `unknown field "z"; there are: item_idx`,
		`{"deep": [{"ITEM_IDX": ""}]}`: `unknown field "ITEM_IDX"; near: item_idx`,
		`{"deep": [{"item_idx": "", "item_idx": ""}]}`: `field "item_idx" is given more than once`,
		`{"range": [1]}`:        "range: got a list of 1, want a list of 2",
		`{"range": [1, 2, 3]}`:  "range: got a list of 3, want a list of 2",
		`{"range": [null, 2]}`:  "range[0]: got null, want a whole number",
		`{"shares": [1, null]}`: "shares[1]: got null, want a number",
		`{"item_id": [null]}`:   "item_id[0]: got null, want text",
		`{"time":`:              "the JSON ends too early",
		``:                      "the JSON ends too early",
		`{"sort": true, "share": 1, "sort": false}`: `field "sort" is given more than once`,
		`{"SORT": true}`: `unknown field "SORT"; near: sort`,
		`{"time": x}`:    "invalid character 'x' looking for beginning of value",
	} {
		if err := Strict([]byte(text), &into); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, good := range []string{`{"fit_rows": [null, 1]}`,
		`{"range": null, "deep": null, "shares": []}`, `{"deep": [null, {"item_idx": null}]}`} {
		if err := Strict([]byte(good), &into); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestFieldOfReturnsThePathOfTheInvalidField also uses fields inside other fields.
func TestFieldOfReturnsThePathOfTheInvalidField(t *testing.T) {
	var into struct {
		RequestHeader
		Deep []struct {
			ID string `json:"item_idx"`
		} `json:"deep"`
		By map[string]float64 `json:"by"`
	}
	for text, want := range map[string]string{
		`{"x": 1}`:                                     "x",
		`{"x": {"y": 1}, "deep": 7}`:                   "x",
		`{"deep": [{}, {"z": 1}]}`:                     "deep[1].z",
		`{"deep": [[], {"z": 1}]}`:                     "deep",
		`{"deep": [{"ITEM_IDX": ""}]}`:                 "deep[0].ITEM_IDX",
		`{"deep": [{"item_idx": "", "item_idx": ""}]}`: "deep[0].item_idx",
		`{"by": {"a": 1, "a": 2}}`:                     "by.a",
		`{"by": {"a": "1"}}`:                           "by",
		`{"protocol": 1, "protocol": 2}`:               "protocol",
		`{"protocol": "1"}`:                            "protocol",
		`[]`:                                           "",
		`{`:                                            "",
	} {
		if err := Strict([]byte(text), &into); err == nil || FieldOf(err) != want {
			t.Errorf("%s: %q is at fault in %v, want %q", text, FieldOf(err), err, want)
		}
	}
}

// refusingType refuses every value.
type refusingType struct{}

func (*refusingType) UnmarshalJSON(b []byte) error {
	return fmt.Errorf("want something else than %s", b)
}

// TestErrorsOfUnmarshalJSONNameTheField: encoding/json does not name the field in these errors.
func TestErrorsOfUnmarshalJSONNameTheField(t *testing.T) {
	var into struct {
		RequestHeader
		Clip *refusingType `json:"clip"`
	}
	for text, want := range map[string]string{
		`{"clip": [1]}`:                    "clip: want something else than [1]",
		`{"protocol": 1, "clip": {"a":0}}`: `clip: want something else than {"a":0}`,
		`{"clip": [ "<",1 ]}`:              `clip: want something else than [ "<",1 ]`,
		`{"clip": `:                        "the JSON ends too early",
	} {
		err := Strict([]byte(text), &into)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if field := (*FieldError)(nil); want[:4] == "clip" &&
			(!errors.As(err, &field) || field.Field != "clip") {
			t.Errorf("%s: %+v", text, err)
		}
	}
}
