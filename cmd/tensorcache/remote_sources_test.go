package main

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
)

// TestHintsForURLsOfPythonNameThePackage compares the hints with what the Python client asks for.
func TestHintsForURLsOfPythonNameThePackage(t *testing.T) {
	b, err := os.ReadFile("../../clients/python/src/tensorcache/_remote/filesystems.py")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "PACKAGES = {")
	table, _, _ = strings.Cut(table, "}")
	want := map[string]string{"sftp": "'tensorcache[remote]'"}
	for _, m := range regexp.MustCompile(`"(\w+)": "(\w+)"`).FindAllStringSubmatch(table, -1) {
		switch scheme, name := m[1], m[2]; {
		case scheme == "http" || scheme == "https": // of this program too
		case name == "s3fs":
			want[scheme] = "'tensorcache[remote]'"
		default:
			want[scheme] = "tensorcache " + name
		}
	}
	if len(want) < 7 {
		t.Fatalf("found %v, want more: is the table elsewhere now?", want)
	}
	for scheme, install := range want {
		_, err := sourceURLs("load", []string{strings.ToUpper(scheme) + "://b/x.parquet?secret"})
		var e *tensorcache.Error
		if !errors.As(err, &e) || strings.Contains(e.Detail, "secret") {
			t.Fatalf("%s: got %v", scheme, err)
		}
		hint := `use Python: cache.load("name", "` + scheme + `://…"), after pip install ` + install
		if e.Hint != hint {
			t.Errorf("got the hint %q, want %q", e.Hint, hint)
		}
	}
	for url, hint := range map[string]string{
		"file:///x.csv": "leave file:// out",
		// The Python client refuses it too.
		"foo://x/y": "use http or https; Python also takes s3, gs, az, hf and others that fsspec knows",
	} {
		_, err = sourceURLs("load", []string{url})
		var e *tensorcache.Error
		if !errors.As(err, &e) || e.Hint != hint {
			t.Errorf("%s: got %v, want the hint %q", url, err, hint)
		}
	}
}
