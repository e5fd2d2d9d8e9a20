package control

import (
	"context"
	"net/url"
	"strings"
)

// pageSize is how many entries a page is asked for: as many as the daemon gives.
const pageSize = "1000"

// Pages asks for all pages of a list. take gets each, and gives the key that the next one follows, nil after the last.
func Pages[T any](ctx context.Context, c *Client, path string, take func(page T) (next *string)) error {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	path += sign + "limit=" + pageSize
	for at := path; ; {
		var page T
		if err := c.Get(ctx, at, &page); err != nil {
			return err
		}
		next := take(page)
		if next == nil {
			return nil
		}
		at = path + "&after=" + url.QueryEscape(*next)
	}
}
