package api

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestTheDashboardIsServedWithItsFilesOverTCP(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	a := d.do("GET", "/", "")
	if a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" ||
		a.header.Get("Content-Security-Policy") == "" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	named := regexp.MustCompile(`(?:src|href)="/assets/([^"]+)"`).FindAllSubmatch(a.body, -1)
	if len(named) < 4 {
		t.Fatalf("only %d files are named", len(named))
	}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) { // a module imports others
		if seen[name] {
			return
		}
		seen[name] = true
		a := d.do("GET", "/assets/"+name, "")
		want := map[string]string{".js": "text/javascript; charset=utf-8",
			".css": "text/css; charset=utf-8"}[path.Ext(name)]
		if a.status != 200 || a.header.Get("Content-Type") != want ||
			a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		for _, m := range regexp.MustCompile(`from "\./([^"]+)"`).FindAllSubmatch(a.body, -1) {
			visit(string(m[1]))
		}
	}
	for _, m := range named {
		visit(string(m[1]))
	}
	err := fs.WalkDir(
		dashboardFiles,
		"dashboard",
		func(name string, entry fs.DirEntry, err error) error {
			if file := path.Base(name); err == nil && !entry.IsDir() && !seen[file] &&
				file != homeFile && file != "uplot.LICENSE.txt" {
				t.Errorf("%s is part of the program, and no page uses it", file)
			}
			return err
		},
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatTheBrowserHasIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	for _, target := range []string{"/", "/assets/app.js", "/assets/uplot.LICENSE.txt"} {
		first := d.do("GET", target, "")
		tag := first.header.Get("ETag")
		if first.status != 200 || tag == "" || first.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", target, first.status, first.header)
		}
		again := d.do("GET", target, "", "If-None-Match: "+tag)
		if again.status != 304 || len(again.body) > 0 || again.header.Get("ETag") != tag {
			t.Errorf("%s: %d %v %s", target, again.status, again.header, again.body)
		}
		if other := d.do("GET", target, "", `If-None-Match: "0"`); other.status != 200 ||
			!bytes.Equal(other.body, first.body) {
			t.Errorf("%s: %d", target, other.status)
		}
	}
}

func TestNoOtherFileIsServed(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"index.html", "none.js", "..", "%2e%2e%2fapi.go",
		"..%2fdashboard.go", "app.js%00", "App.js"} {
		w.wantProblem(w.do("GET", "/assets/"+name, nil), wire.NotFound, "")
	}
}

// TestThePageRequestsListsAsLongAsThoseOfEvents checks that the lists that the page requests are as
// long as those of the event stream. Else entries would appear and disappear.
func TestThePageRequestsListsAsLongAsThoseOfEvents(t *testing.T) {
	w := newWorld(t)
	files, err := dashboard()
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range eventTopics {
		m := regexp.MustCompile(`\b` + topic.name + `: "([^"]+)"`).
			FindSubmatch(files["live.js"].body)
		if m == nil {
			t.Fatalf("the page does not ask for %s", topic.name)
		}
		body := map[string]any{}
		w.decode(w.do("GET", string(m[1]), nil), 200, &body)
		if _, paged := body["next"]; paged != strings.HasSuffix(string(m[1]),
			fmt.Sprint("?limit=", maxPageSize)) {
			t.Errorf("it asks for %s", m[1])
		}
	}
}

// TestThePageKeepsToItsPolicyAndItsSize looks for code that the content security policy forbids,
// and limits the size of all files to 200 KB.
func TestThePageKeepsToItsPolicyAndItsSize(t *testing.T) {
	files, err := dashboard()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for name, f := range files {
		if total += len(f.body); f.media == "" {
			t.Errorf("%s has no media type", name)
		}
		if strings.HasPrefix(name, "uplot.") {
			continue
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML",
			"document.write", "eval(", "new Function", "https://", "javascript:"} {
			if bytes.Contains(f.body, []byte(bad)) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		if n := bytes.Count(f.body, []byte("\n")); strings.HasSuffix(name, ".js") && n >= 400 {
			t.Errorf("%s has %d lines", name, n)
		}
	}
	page := string(files[homeFile].body)
	for _, bad := range []string{` style="`, "<style", " on", "<script>"} {
		if bad == " on" {
			if m := regexp.MustCompile(`\son[a-z]+=`).FindString(page); m != "" {
				t.Errorf("the page has %q", m)
			}
		} else if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if total >= 200_000 {
		t.Errorf("the dashboard takes %d bytes", total)
	}
	t.Log(fmt.Sprint(total, " bytes"))
}
