package api

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Limits of a page of a list.
const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// pageRequest asks for the first limit entries of a list whose keys are after this one.
type pageRequest struct {
	limit int
	after string
}

func readPaging(ctx *fasthttp.RequestCtx) (pageRequest, error) {
	q := queryOf(ctx)
	limit, err := q.number("limit", defaultPageSize, 1, maxPageSize)
	return pageRequest{int(limit), q["after"]}, err
}

// cutPage returns a page of a list that is sorted by its keys, and the key for the next page, nil
// at the end of the list. The list need not have the key p.after any more.
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

// compareNumbered orders names such as j2 and j10 by their number.
func compareNumbered(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

// checkNumbered refuses a key that is not such a name, because it has no place in the order.
func (p pageRequest) checkNumbered(letter string) error {
	digits, ok := strings.CutPrefix(p.after, letter)
	if n, err := strconv.ParseUint(digits, 10, 63); p.after != "" &&
		(!ok || err != nil || strconv.FormatUint(n, 10) != digits) {
		return wire.NewProblem(wire.InvalidRequest,
			"after: got %q, want the next of the previous page, as %s12", shorten(p.after),
			letter).WithField("after")
	}
	return nil
}
