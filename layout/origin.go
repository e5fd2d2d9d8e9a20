package layout

import (
	"strings"
	"time"
)

// Origin is a remote file as its server described it when a client copied it for a load. URL has
// no user, password, query and fragment.
type Origin struct {
	URL   string     `json:"url"`
	ETag  *string    `json:"etag"`  // nil if the server gave none
	Size  int64      `json:"size"`  // bytes
	Mtime *time.Time `json:"mtime"` // nil if the server gave none
}

// Same reports whether the remote file seems unchanged: URL and size are equal, and so are the
// ETags, or the times of last change if neither has an ETag. Without both, it returns false. A weak
// ETag equals the strong one, because one server may send both.
func (o Origin) Same(other Origin) bool {
	switch {
	case o.URL != other.URL || o.Size != other.Size:
		return false
	case o.ETag != nil && other.ETag != nil:
		return strings.TrimPrefix(*o.ETag, "W/") == strings.TrimPrefix(*other.ETag, "W/")
	case o.ETag != nil || other.ETag != nil:
		return false
	}
	return o.Mtime != nil && other.Mtime != nil && o.Mtime.Equal(*other.Mtime)
}
