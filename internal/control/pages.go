package control

import (
	"context"
	"net/url"
	"strings"
)

// pageSize is how many entries a page is asked for: as many as the daemon gives.
const pageSize = "1000"

// List asks for all pages of a list and gives their entries. A page P tells its entries, and the
// key that the next one follows: nil after the last.
func List[P interface{ Page() ([]T, *string) }, T any](ctx context.Context, c *Client,
	path string) ([]T, error) {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	path += sign + "limit=" + pageSize
	list := []T{}
	for at := path; ; {
		var page P
		if err := c.Get(ctx, at, &page); err != nil {
			return nil, err
		}
		entries, next := page.Page()
		if list = append(list, entries...); next == nil {
			return list, nil
		}
		at = path + "&after=" + url.QueryEscape(*next)
	}
}
