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
	defaultPageSize = 100
	maxPageSize     = 1000
)

// paging is what a client wants of a list: at most limit entries, those behind the key after.
type pageRequest struct {
	limit int
	after string
}

func readPaging(ctx *fasthttp.RequestCtx) (pageRequest, error) {
	q := queryOf(ctx)
	limit, err := q.number("limit", defaultPageSize, 1, maxPageSize)
	return pageRequest{int(limit), q["after"]}, err
}

// page cuts a page out of a list that is sorted by its keys, and names the key to go on after, nil
// at the list's end. The key after need not be there any more.
func cutPage[T any](p pageRequest, list []T, key func(T) string,
	compare func(a, b string) int) ([]T, *string) {
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
func compareNumbered(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

// checkNumbered refuses a key that is no name like j2: it has no place in their order.
func (p pageRequest) checkNumbered(letter string) error {
	digits, ok := strings.CutPrefix(p.after, letter)
	if n, err := strconv.ParseUint(digits, 10, 63); p.after != "" &&
		(!ok || err != nil || strconv.FormatUint(n, 10) != digits) {
		return wire.NewProblem(wire.InvalidRequest,
			"after: got %q, want the next of the page before, as %s12", shorten(p.after),
			letter).WithField("after")
	}
	return nil
}
