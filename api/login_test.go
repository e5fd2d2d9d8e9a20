package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// loginURL requests a login address and returns the part after the server's address.
func (w *world) loginURL(d *tcpClient) string {
	w.Helper()
	var ui wire.UI
	w.decode(w.do("POST", "/v1/ui", map[string]any{}), 200, &ui)
	path, ok := strings.CutPrefix(ui.URL, "http://"+d.addr)
	if !ok {
		w.Fatalf("%q is not at %s", ui.URL, d.addr)
	}
	return path
}

func TestAOneTimeAddressLogsABrowserIn(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	path := w.loginURL(d)
	a := d.do("GET", path, "", "Authorization: ", "Sec-Fetch-Site: none")
	cookies := (&http.Response{Header: a.header}).Cookies()
	if a.status != 303 || a.header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d %v", a.status, a.header)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
		len(c.Value) != 2*secretBytes || strings.Contains(path, c.Value) || c.Value == d.token {
		t.Errorf("%+v", c)
	}
	cookie := "Cookie: " + c.Name + "=" + c.Value
	if a := d.do("GET", "/v1/health", "", "Authorization: ", cookie); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.do("POST", "/v1/stop", "", "Authorization: ", cookie, "Origin: http://"+
		d.addr); a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.wantProblem(d.do("POST", "/v1/stop", "", "Authorization: ", cookie), wire.Forbidden,
		"want that of the dashboard")
}

func TestAnAddressMayBeOfIPv6(t *testing.T) {
	w := newWorld(t)
	addr, err := w.server.OpenTCP("[::1]:0")
	if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
		t.Skip("this machine has no IPv6 loopback")
	}
	if err != nil {
		t.Fatal(err)
	}
	if path := w.loginURL(&tcpClient{w, w, addr, ""}); !strings.HasPrefix(path, "/login?key=") {
		t.Error(path)
	}
}

func TestAKeyIsValidOnceAndForAMinute(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	now := time.Now()
	w.server.guard.sessions.now = func() time.Time { return now }
	used, late := w.loginURL(d), w.loginURL(d)
	if a := d.do("GET", used, "", "Authorization: "); a.status != 303 {
		t.Fatalf("%d", a.status)
	}
	now = now.Add(keyLifetime)
	for name, path := range map[string]string{"used": used, "late": late, "none": "/login",
		"empty": "/login?key=", "wrong": "/login?key=" + d.token} {
		a := d.do("GET", path, "", "Authorization: ")
		if a.status != 401 || a.header.Get("Set-Cookie") != "" ||
			!strings.Contains(string(a.body), "<code>tensorcache ui</code> again") {
			t.Errorf("%s: %d %v %s", name, a.status, a.header, a.body)
		}
	}
}

func TestOnlyAGetUsesAKeyUp(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	path := w.loginURL(d)
	for _, method := range []string{"HEAD", "OPTIONS", "POST"} {
		if a := d.do(method, path, "", "Authorization: "); a.status != 401 {
			t.Errorf("%s: %d", method, a.status)
		}
	}
	if a := d.do("GET", path, "", "Authorization: "); a.status != 303 {
		t.Errorf("%d", a.status)
	}
}

func TestASessionEndsSomeTimeAfterItsLastRequest(t *testing.T) {
	l := newSessionTable()
	now := time.Now()
	l.now = func() time.Time { return now }
	session, ok := l.redeem(l.newKey())
	for range 3 {
		now = now.Add(sessionLifetime - time.Second)
		if ok = ok && l.isValid([]byte(session)); !ok {
			t.Fatal("a session in use ends")
		}
	}
	now = now.Add(sessionLifetime)
	if l.isValid([]byte(session)) {
		t.Error("a session nobody uses stays")
	}
}

func TestTheNumberOfKeysAndSessionsIsLimited(t *testing.T) {
	l := newSessionTable()
	now := time.Now()
	l.now = func() time.Time { now = now.Add(time.Millisecond); return now }
	first, last := l.newKey(), ""
	for range maxSecrets {
		last = l.newKey()
	}
	if _, ok := l.redeem(first); ok || len(l.keys) != maxSecrets {
		t.Errorf("%d keys", len(l.keys))
	}
	if _, ok := l.redeem(last); !ok {
		t.Error("the newest key is lost")
	}
}

func TestALoginIsGivenOutOverTheSocketOnly(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	w.wantProblem(d.do("POST", "/v1/ui", "{}"), wire.Forbidden, "over the control socket only")
	w.wantProblem(w.do("GET", "/login?key=x", nil), wire.NotFound, "over the control socket")
	w.wantProblem(w.do("POST", "/v1/ui", map[string]any{"name": "x"}), wire.InvalidRequest,
		"takes no body")
}

func TestTheFirstLoginOpensAnAddress(t *testing.T) {
	w := newWorld(t)
	opened := ""
	w.server.Opened = func(addr string) { opened = addr }
	var ui wire.UI
	w.decode(w.do("POST", "/v1/ui", nil), 200, &ui)
	if !strings.HasPrefix(opened, "127.0.0.1:") ||
		!strings.HasPrefix(ui.URL, "http://"+opened+"/login?key=") {
		t.Errorf("opened %q, told %q", opened, ui.URL)
	}
}

func TestABrowserWithoutASessionGetsTheLoginPage(t *testing.T) {
	d := newWorld(t).openTCP()
	a := d.do("GET", "/", "", "Authorization: ", "Accept: text/html,*/*")
	if a.status != 401 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(a.body), "tensorcache ui") ||
		a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}
