package control

import (
	"context"
	"net/url"
	"strings"
)

// pageSize is the number of entries of a page: the most that the daemon returns.
const pageSize = "1000"

// List requests all pages of a list and returns their entries. The method Page of a page P returns
// its entries and the key that the next page follows, nil on the last page.
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
