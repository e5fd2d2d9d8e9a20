package remote

import (
	neturl "net/url"
	"path"
	"strings"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// url is a URL as the user gave it, taken apart.
type url struct {
	// public is the URL without user, password, query and fragment.
	public string
	// request is the URL without user, password and fragment.
	request *neturl.URL
	// user has user and password, nil if the URL has none.
	user *neturl.Userinfo
}

// Is reports whether a text is a URL of a file that this package can copy.
func Is(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Shown returns a URL for messages, without what may be secret.
func Shown(text string) string {
	if u, err := neturl.Parse(text); err == nil && !strings.ContainsAny(text, "@?#") {
		return u.String()
	}
	scheme, _, _ := strings.Cut(text, ":")
	return scheme + "://…"
}

// parse parses a URL. The error does not quote what may be secret.
func parse(text string) (url, error) {
	u, err := neturl.Parse(text)
	if err != nil || !Is(text) || u.Hostname() == "" {
		p := wire.NewProblem(wire.SourceError,
			"got the URL %q, want one as https://host/prices.parquet", Shown(text))
		switch {
		case err != nil && strings.Contains(lastError(err), "invalid port"):
			return url{}, p.WithHint("write a number as the port; write / in a user or a password " +
				"as %%2F, and @ as %%40")
		case err != nil:
			return url{}, p.WithHint("write spaces as %%20, and @ of a user or a password as %%40")
		}
		return url{}, p.WithHint("name the host after https://")
	}
	out := url{user: u.User}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	out.request = u
	public := *u
	public.RawQuery, public.ForceQuery = "", false
	out.public = public.String()
	// The daemon would refuse what still looks like a secret.
	if err := origin.CheckURL(out.public); err != nil {
		return url{}, wire.NewProblem(wire.SourceError, "got a URL %s",
			strings.TrimPrefix(err.Error(), "origins: got url "))
	}
	return out, nil
}

// maxName is a length of file names, in bytes, that every file system allows.
const maxName = 200

// name returns the name of the file, by which the daemon may choose the format.
func (u *url) name() string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(path.Base(u.request.Path), "_"))
	if len(name) > maxName { // keep the suffix
		name = strings.ToValidUTF8(name[len(name)-maxName:], "")
	}
	if strings.Trim(name, "._") == "" {
		return "file"
	}
	return name
}
