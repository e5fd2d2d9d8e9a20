package api

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Bounds of a page of a list.
const (
	usualPage   = 100
	largestPage = 1000
)

// paging is what a client wants of a list: at most limit entries, those behind the key after.
type paging struct {
	limit int
	after string
}

func readPaging(ctx *fasthttp.RequestCtx) (paging, error) {
	limit, err := wholeQuery(ctx, "limit", usualPage, 1, largestPage)
	return paging{int(limit), string(ctx.QueryArgs().Peek("after"))}, err
}

// wholeQuery reads a whole number from a query parameter.
func wholeQuery(ctx *fasthttp.RequestCtx, name string, missing, least, most int64) (int64, error) {
	if !ctx.QueryArgs().Has(name) {
		return missing, nil
	}
	arg := string(ctx.QueryArgs().Peek(name))
	v, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || v < least || v > most {
		return 0, wire.NewProblem(wire.InvalidRequest, "%s: got %q, want a whole number from %d to %d", name, arg, least, most).WithField(name)
	}
	return v, nil
}

// page cuts a page out of a list that is sorted by its keys, and names the key to go on after, nil at the list's end. The key after
// need not be there any more.
func page[T any](p paging, list []T, key func(T) string, compare func(a, b string) int) ([]T, *string) {
	from := 0
	if p.after != "" {
		for from < len(list) && compare(key(list[from]), p.after) <= 0 {
			from++
		}
	}
	list = list[from:]
	if len(list) <= p.limit {
		return list, nil
	}
	next := key(list[p.limit-1])
	return list[:p.limit], &next
}

// byNumber orders names like j2 and j10.
func byNumber(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

// checkNumbered refuses a key that is no name like j2: it has no place in their order.
func (p paging) checkNumbered(letter string) error {
	digits, ok := strings.CutPrefix(p.after, letter)
	if n, err := strconv.ParseUint(digits, 10, 63); p.after != "" && (!ok || err != nil || strconv.FormatUint(n, 10) != digits) {
		return wire.NewProblem(wire.InvalidRequest, "after: got %q, want the next of the page before, as %s12", p.after, letter).WithField("after")
	}
	return nil
}
