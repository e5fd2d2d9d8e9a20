package layout

import (
	"testing"
	"time"
)

func TestOriginsOfTheSameVersion(t *testing.T) {
	tag := func(s string) *string { return &s }
	at := func(hour int) *time.Time {
		t := time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)
		return &t
	}
	for _, c := range []struct {
		name string
		a, b Origin
		want bool
	}{
		{"equal ETags", Origin{ETag: tag(`"x"`)}, Origin{ETag: tag(`"x"`)}, true},
		{"weak and strong", Origin{ETag: tag(`W/"x"`)}, Origin{ETag: tag(`"x"`)}, true},
		{"strong and weak", Origin{ETag: tag(`"x"`)}, Origin{ETag: tag(`W/"x"`)}, true},
		{"other ETags", Origin{ETag: tag(`"x"`)}, Origin{ETag: tag(`W/"y"`)}, false},
		{"one ETag", Origin{ETag: tag(`"x"`), Mtime: at(1)}, Origin{Mtime: at(1)}, false},
		{"equal times", Origin{Mtime: at(1)}, Origin{Mtime: at(1)}, true},
		{"other times", Origin{Mtime: at(1)}, Origin{Mtime: at(2)}, false},
		{"nothing", Origin{}, Origin{}, false},
		{"other URL", Origin{URL: "s3://b/a", ETag: tag("x")}, Origin{ETag: tag("x")}, false},
		{"other size", Origin{Size: 1, ETag: tag("x")}, Origin{ETag: tag("x")}, false},
	} {
		if got := c.a.Same(c.b); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
