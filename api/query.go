package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// query holds the query parameters of a request. checkRequest has checked their names.
type query map[string]string

func queryOf(ctx *fasthttp.RequestCtx) query {
	q := query{}
	for k, v := range ctx.QueryArgs().All() {
		q[string(k)] = string(v)
	}
	return q
}

// number returns a whole number from least to most, or the default value if it is not given.
func (q query) number(name string, fallback, lowest, highest int64) (int64, error) {
	text, given := q[name]
	if !given {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < lowest || n > highest {
		return 0, wire.NewProblem(wire.InvalidRequest,
			"%s: got %q, want a whole number from %d to %d", name, shorten(text), lowest,
			highest).WithField(name)
	}
	return n, nil
}

// names returns a list of names, or nil if it is not given. It is written as a,b or, for names with
// commas, as a JSON list.
func (q query) names(name string) ([]string, error) {
	text, given := q[name]
	switch {
	case !given:
		return nil, nil
	case !strings.HasPrefix(text, "["):
		return strings.Split(text, ","), nil
	}
	list := []string{}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, wire.NewProblem(wire.InvalidRequest,
			`%s: got %q, want names as a,b or as ["a","b"]`, name, shorten(text)).WithField(name)
	}
	return list, nil
}

// oneOf returns one of the values, by default the first.
func (q query) oneOf(name string, values ...string) (string, error) {
	text, given := q[name]
	if !given {
		return values[0], nil
	}
	if !slices.Contains(values, text) {
		return "", wire.NewProblem(wire.InvalidRequest, "%s: got %q, want %s", name,
			shorten(text), strings.Join(values, " or ")).WithField(name)
	}
	return text, nil
}

// shorten returns a text as messages quote it.
func shorten(text string) string {
	if len(text) > maxQuoted {
		return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return text
}

// itemCode returns the code of an item, by default 0.
func (q query) itemCode(items int64) (int64, error) {
	n, err := q.number("item_code", 0, 0, 1<<62)
	if err != nil {
		return 0, err
	}
	return n, checkCode(n, items)
}

func checkCode(code, items int64) error {
	if code >= 0 && code < items {
		return nil
	}
	want := "the dataset has no items"
	if items > 0 {
		want = fmt.Sprintf("want a code from 0 to %d", items-1)
	}
	return wire.NewProblem(wire.ItemNotFound, "item_code: got %d, %s", code, want).WithField("item_code")
}
